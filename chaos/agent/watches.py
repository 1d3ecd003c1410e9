"""Watches of links, accelerators, processes and cgroups."""

import json
import time
from typing import Any, Dict

from . import consult, nvml, processes
from .lines import Lines
from .watch import Watch


class Link(Watch):
    """A network interface: state and carrier, as sysfs has them."""

    def open(self) -> None:
        self._seen = self._now()
        self.tell("link", self._seen)

    def _now(self) -> Dict[str, Any]:
        name = self.arguments["interface"]
        place = "/sys/class/net/%s" % name
        return {
            "interface": name,
            "operstate": consult.text_of(place + "/operstate") or "absent",
            "carrier": consult.number_of(place + "/carrier") or 0,
            "carrier_changes": consult.number_of(place + "/carrier_changes"),
        }

    def look(self) -> None:
        now = self._now()
        if now != self._seen:
            self._seen = now
            self.tell("link", now)


class Devices(Watch):
    """Accelerators: lost, error counters, and temperature when it moves by five degrees. A driver that hangs holds up no other watch."""

    PATIENCE = 3.0

    def open(self) -> None:
        self.period = max(self.period, 0.25)
        self._seen: Dict[int, Dict[str, Any]] = {}
        self._error = ""
        self._reader = nvml.Reader()
        self._is_asked = False

    def look(self) -> None:
        if not self._is_asked:
            self._is_asked = self._reader.ask()
            if not self._is_asked:
                self._take(nvml.silence(self.PATIENCE))
                return
        answer = self._reader.answer()
        if answer is None and time.monotonic() - self._reader.asked_at < self.PATIENCE:
            self.due = 0.0
            return
        self._is_asked = False
        if answer is None:
            self._reader.close()
        self._take(nvml.silence(self.PATIENCE) if answer is None else answer)

    def _take(self, answer: Dict[str, Any]) -> None:
        error = str(answer.get("error", ""))
        if error != self._error:
            self._error = error
            self.tell("watch.gap", {"watch": self.name, "why": error or "NVML answers again", "lost": None})
        for device in answer["devices"]:
            before = self._seen.get(device["index"])
            if before is None or self._key(before) != self._key(device):
                self._seen[device["index"]] = device
                self.tell("accelerator", device)

    def close(self) -> None:
        self._reader.close()

    @staticmethod
    def _key(device: Dict[str, Any]) -> Any:
        warm = device.get("temperature")
        return device.get("lost"), device.get("ecc_corrected"), device.get("ecc_uncorrected"), None if warm is None else warm // 5


class _FromStart(Lines):
    """A file that is read anew by every daemon: what stands in it is learnt, not told."""

    is_resumed = False


class Processes(Watch):
    """The ranks of a job, by pid and start time, as its own programs announce them; state changes are told."""

    def open(self) -> None:
        self._ranks: Dict[Any, Dict[str, Any]] = {}
        self._events = _FromStart(
            self.name, {"path": "{home}/jobs/%s/events" % self.arguments["job"]}, 1.0, self.home, self._learn
        )

    def _learn(self, kind: str, body: Dict[str, Any]) -> None:
        if kind != "job.line" or '"rank.up"' not in body["line"]:
            return
        try:
            data = json.loads(body["line"])["data"]
            key = (int(data["pid"]), int(data["started"]))
        except (ValueError, KeyError, TypeError):
            return
        rank = {"rank": data.get("rank"), "local_rank": data.get("local_rank"), "pid": key[0], "state": "running"}
        self._ranks.setdefault(key, rank)

    def look(self) -> None:
        self._events.look()
        for key, rank in list(self._ranks.items()):
            state = self._state(*key)
            if state != rank["state"]:
                rank["state"] = state
                self.tell("process", dict(rank))
            if state == "gone":
                del self._ranks[key]

    @staticmethod
    def _state(pid: int, started: int) -> str:
        seen = processes.stat(pid)
        if seen is None or seen[2] != started or seen[0] in "ZX":
            return "gone"
        return {"T": "T", "t": "T", "D": "D"}.get(seen[0], "running")

    def close(self) -> None:
        self._events.close()


class Cgroup(Watch):
    """A cgroup's count of processes that the kernel killed for memory."""

    def open(self) -> None:
        self._kills = self._now()

    def _now(self) -> Any:
        return consult.cgroup({"path": self.arguments["path"]}, self.home, None)["oom_kills"]

    def look(self) -> None:
        kills = self._now()
        if kills is not None and kills != self._kills:
            self._kills = kills
            self.tell("oom", {"path": self.arguments["path"], "oom_kills": kills})
