"""What the agent looks at by itself. One thread turns over all watches; each says what changed since it looked last."""

import json
import os
import re
import threading
import time
from typing import Any, Callable, Dict, List, Optional

from . import consult, nvml, processes
from .homes import Home

Tell = Callable[[str, Dict[str, Any]], None]
_RECORD = re.compile(rb"^(\d+),(\d+),(\d+),[^;]*;(.*)$")
_ANGLED = re.compile(rb"^<(\d+)>(?:\[\s*([\d.]+)\]\s?)?(.*)$")
_MARK = "[chaos "


class Watch:
    """One thing that is looked at. ``look`` is called every ``period`` seconds."""

    def __init__(self, name: str, arguments: Dict[str, str], period: float, home: Home, tell: Tell) -> None:
        self.name = name
        self.arguments = arguments
        self.period = max(0.05, period)
        self.home = home
        self.tell = tell
        self.due = 0.0
        self.open()

    def open(self) -> None:
        """Takes the state from which changes are told."""

    def look(self) -> None:
        """Tells what changed."""

    def close(self) -> None:
        """Lets go of what is held open."""


class Lines(Watch):
    """A growing file, line by line. ``from_start``: also what stands in it already."""

    from_start = True

    def open(self) -> None:
        self.path = self.home.fill(self.arguments["path"])
        self._file: Optional[Any] = None
        self._inode = 0
        self._rest = b""
        self._again(at_end=not self.from_start)

    def _again(self, at_end: bool) -> None:
        try:
            file = open(self.path, "rb", buffering=0)
        except OSError:
            return
        self._file, self._inode, self._rest = file, os.fstat(file.fileno()).st_ino, b""
        if at_end:
            file.seek(0, os.SEEK_END)

    def look(self) -> None:
        if self._file is None:
            self._again(at_end=False)
        if self._file is None:
            return
        self._check_rotation()
        while True:
            data = self._file.read(1 << 16) if self._file else b""
            if not data:
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self.line(line)

    def _check_rotation(self) -> None:
        try:
            seen = os.stat(self.path)
        except OSError:
            return
        if self._file and (seen.st_ino != self._inode or seen.st_size < self._file.tell()):
            self.tell("watch.gap", {"watch": self.name, "why": "the file was rotated or cut", "lost": None})
            self.close()
            self._again(at_end=False)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def line(self, line: bytes) -> None:
        """One whole line."""
        self.tell("job.line", {"job": self.arguments.get("job", self.name), "line": line.decode("utf-8", "replace")})


class KernelLog(Lines):
    """The kernel log: a character device that gives a record a read, or a file of such records. Only what comes from now on."""

    from_start = False

    def open(self) -> None:
        self._sequence: Optional[int] = None
        self._is_device = not os.path.isfile(self.arguments["path"]) and os.path.exists(self.arguments["path"])
        if self._is_device:
            self.path = self.arguments["path"]
            self._device = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._device, 0, os.SEEK_END)
        else:
            super().open()

    def look(self) -> None:
        if not self._is_device:
            super().look()
            return
        while True:
            try:
                self.line(os.read(self._device, 8192).split(b"\n", 1)[0])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.tell("watch.gap", {"watch": self.name, "why": "the kernel's ring buffer overflowed", "lost": None})

    def close(self) -> None:
        if self._is_device:
            os.close(self._device)
        else:
            super().close()

    def line(self, line: bytes) -> None:
        if not line.strip():
            return
        record, angled = _RECORD.match(line), _ANGLED.match(line)
        priority, sequence, text = None, None, line
        if record:
            priority, sequence, text = int(record[1]) & 7, int(record[2]), record[4]
            self._check_sequence(sequence)
        elif angled:
            priority, text = int(angled[1]) & 7, angled[3]
        words = text.decode("utf-8", "replace")
        self.tell("kernel.line", {"text": words, "priority": priority, "sequence": sequence, "injected": _MARK in words})

    def _check_sequence(self, sequence: int) -> None:
        if self._sequence is not None and sequence > self._sequence + 1:
            lost = sequence - self._sequence - 1
            self.tell("watch.gap", {"watch": self.name, "why": "records are missing", "lost": lost})
        self._sequence = sequence


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
    """Accelerators: lost, error counters, and temperature when it moves by five degrees."""

    def open(self) -> None:
        self.period = max(self.period, 0.25)
        self._seen: Dict[int, Dict[str, Any]] = {}
        self._error = ""
        self.look()

    def look(self) -> None:
        answer = nvml.read_apart(3.0)
        error = str(answer.get("error", ""))
        if error != self._error:
            self._error = error
            self.tell("watch.gap", {"watch": self.name, "why": error or "NVML answers again", "lost": None})
        for device in answer["devices"]:
            before = self._seen.get(device["index"])
            if before is None or self._key(before) != self._key(device):
                self._seen[device["index"]] = device
                self.tell("accelerator", device)

    @staticmethod
    def _key(device: Dict[str, Any]) -> Any:
        warm = device.get("temperature")
        return device.get("lost"), device.get("ecc_corrected"), device.get("ecc_uncorrected"), None if warm is None else warm // 5


class Processes(Watch):
    """The ranks of a job, by pid and start time, as its own programs announce them; state changes are told."""

    def open(self) -> None:
        self._ranks: Dict[Any, Dict[str, Any]] = {}
        self._events = Lines(self.name, {"path": "{home}/jobs/%s/events" % self.arguments["job"]}, 1.0, self.home, self._learn)

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


KINDS = {"kernel_log": KernelLog, "link": Link, "nvml": Devices, "processes": Processes, "lines": Lines, "cgroup": Cgroup}


class Watcher(threading.Thread):
    """Turns over all watches."""

    def __init__(self, home: Home, tell: Tell) -> None:
        super().__init__(daemon=True)
        self._home = home
        self._tell = tell
        self._watches: Dict[str, Watch] = {}
        self._lock = threading.Lock()

    def add(self, name: str, kind: str, arguments: Dict[str, str], period: float) -> None:
        """Begins to look; a watch of the same name is left as it is.

        Raises:
            ValueError: this agent does not know the kind.
            OSError: what is to be looked at cannot be opened.
        """
        if kind not in KINDS:
            raise ValueError("this agent cannot watch %r" % kind)
        with self._lock:
            if name not in self._watches:
                self._watches[name] = KINDS[kind](name, arguments, period, self._home, self._tell)

    def remove(self, name: str) -> None:
        """Ends looking."""
        with self._lock:
            watch = self._watches.pop(name, None)
        if watch is not None:
            watch.look()
            watch.close()

    @property
    def count(self) -> int:
        """How many watches there are."""
        return len(self._watches)

    def run(self) -> None:
        while True:
            now = time.monotonic()
            with self._lock:
                due: List[Watch] = [watch for watch in self._watches.values() if watch.due <= now]
                for watch in due:
                    watch.due = now + watch.period
                    self._look(watch)
            time.sleep(0.05)

    def _look(self, watch: Watch) -> None:
        try:
            watch.look()
        except Exception as error:
            self._tell("watch.gap", {"watch": watch.name, "why": "%s: %s" % (type(error).__name__, error), "lost": None})
            watch.due = time.monotonic() + 5.0
