"""The part that stays on the node: it answers requests over a unix socket, and what it saw outlives every session."""

import fcntl
import os
import platform
import shutil
import socket
import threading
import time
from typing import Any, BinaryIO, Callable, Dict, Optional

from . import acts, consult, frames, guards, jobs, sweeping
from .homes import Home
from .spool import Spool
from .watcher import Watcher

VERSION = 1
_IDLE_SECONDS = 3600.0
_QUICK = frozenset({"ping", "clock", "renew", "guards", "job"})
_TOOLS = ("ip", "nft", "iptables", "tc", "nvidia-smi", "systemd-run", "ethtool", "ibstat")


class Daemon:
    """One per run and node."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._alone = _only_one(home)
        self.spool = Spool(home)
        self.watcher = Watcher(home, self.spool.add)
        self.last_used = time.monotonic()
        self.connections = 0
        self.is_leaving = threading.Event()
        self._verbs: Dict[str, Callable[[Dict[str, Any], Optional[float]], Any]] = {
            "ping": lambda _with, _limit: {},
            "clock": lambda _with, _limit: {"monotonic": time.monotonic(), "boot_id": consult.boot_id()},
            "perform": lambda given, limit: acts.perform(given["act"], home, limit),
            "script": lambda given, limit: {"answers": acts.perform_all(given["acts"], given["keep_going"], home, limit)},
            "arm": lambda given, _limit: guards.arm(home, given),
            "renew": lambda given, _limit: guards.renew(home, given["id"], float(given["lease"]), int(given["fence"])),
            "fire": lambda given, _limit: guards.fire(home, given["id"]),
            "disarm": lambda given, _limit: guards.disarm(home, given["id"]),
            "guards": lambda _with, _limit: {"guards": guards.states(home)},
            "watch": self._watch,
            "unwatch": lambda given, _limit: self.watcher.remove(given["name"]),
            "start": self._start,
            "job": lambda given, _limit: jobs.state(home, given["name"]),
            "stop": self._stop,
            "sweep": lambda given, _limit: {"left": sweeping.sweep(home, bool(given.get("remove")))},
            "leave": self._leave,
        }

    def serve(self) -> None:
        """Answers until it is told to leave, its home is gone, or nobody has needed it for an hour."""
        listener = self._listen()
        self.watcher.resume()
        self.watcher.start()
        while not self._is_done():
            self._tend_guards()
            try:
                connection, _ = listener.accept()
            except socket.timeout:
                continue
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()
        listener.close()
        if self.is_leaving.is_set():
            time.sleep(0.1)
            shutil.rmtree(self.home.path, ignore_errors=True)
            sweeping.remove_empty(os.path.dirname(self.home.path))

    def _listen(self) -> socket.socket:
        path = self.home.at("socket")
        if os.path.exists(path + ".new"):
            os.unlink(path + ".new")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path + ".new")
        listener.listen(8)
        os.replace(path + ".new", path)
        listener.settimeout(0.5)
        return listener

    def _is_done(self) -> bool:
        if self.is_leaving.is_set() or not os.path.isdir(self.home.path):
            return True
        is_needed = self.connections or self.watcher.count or any(s["state"] in guards.UNDONE for s in guards.states(self.home))
        is_needed = is_needed or any(jobs.state(self.home, name)["is_running"] for name in jobs.names(self.home))
        if is_needed:
            self.last_used = time.monotonic()
        if time.monotonic() - self.last_used > _IDLE_SECONDS:
            self.is_leaving.set()
        return self.is_leaving.is_set()

    def _tend_guards(self) -> None:
        guards.revive(self.home)
        for state in guards.untold(self.home):
            body = {"guard": state["id"], "why": state["why"], "failures": state["failures"]}
            self.spool.add("guard.fired", body, float(state.get("at", 0.0)))
            guards.mark_told(self.home, state)

    def _converse(self, connection: socket.socket) -> None:
        self.connections += 1
        try:
            Conversation(self, connection).run()
        finally:
            self.connections -= 1
            connection.close()

    def answer(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """The answer to one request; what goes wrong is an answer too."""
        number = request.get("id")
        verb = self._verbs.get(str(request.get("do")))
        if verb is None:
            return {"id": number, "error": {"name": "Unsupported", "text": "this agent does not know %r" % request.get("do")}}
        try:
            limit = request.get("deadline")
            return {"id": number, "ok": verb(dict(request.get("with", {})), None if limit is None else float(limit)) or {}}
        except guards.Refused as error:
            return {"id": number, "error": {"name": "Refused", "text": str(error)}}
        except Exception as error:
            return {"id": number, "error": {"name": type(error).__name__, "text": str(error), "is_still_running": None}}

    def facts(self) -> Dict[str, Any]:
        """What was found here."""
        return {
            "hostname": socket.gethostname(),
            "system": platform.system(),
            "kernel": platform.release(),
            "python": platform.python_version(),
            "uid": os.getuid(),
            "tools": [tool for tool in _TOOLS if shutil.which(tool)],
            "cgroup": 1 if os.path.isdir("/sys/fs/cgroup/memory") else 2 if os.path.exists("/sys/fs/cgroup/cgroup.procs") else 0,
            "home": self.home.path,
        }

    def _watch(self, given: Dict[str, Any], _limit: Optional[float]) -> None:
        self.watcher.add(given["name"], given["kind"], dict(given.get("arguments", {})), float(given.get("period", 0.2)))

    def _start(self, given: Dict[str, Any], _limit: Optional[float]) -> Dict[str, Any]:
        name = str(given["name"])
        path = jobs.events_path(self.home, given, self.home.made("jobs", name))
        state = jobs.start(self.home, given)
        self.watcher.add("lines-" + name, "lines", {"path": path, "job": name}, 0.05)
        self.watcher.add("processes-" + name, "processes", {"job": name}, 0.2)
        return state

    def _stop(self, given: Dict[str, Any], _limit: Optional[float]) -> Dict[str, Any]:
        state = jobs.stop(self.home, given["name"], float(given.get("grace", 3.0)))
        for watch in ("lines-", "processes-"):
            self.watcher.remove(watch + given["name"], forget=False)
        return state

    def _leave(self, _given: Dict[str, Any], _limit: Optional[float]) -> None:
        armed = [state["id"] for state in guards.states(self.home) if state["state"] in guards.UNDONE]
        if armed:
            raise guards.Refused("guards are armed: %s" % ", ".join(armed))
        for folder in ("jobs", "spawned"):
            for name in jobs.names(self.home, folder):
                jobs.stop(self.home, name, 1.0, folder)
        self.is_leaving.set()


def _only_one(home: Home) -> BinaryIO:
    """Holds the run's lock while this process lives. A record lock, because a child must not inherit it.

    Raises:
        OSError: another daemon serves this run.
    """
    file = open(home.at("daemon.lock"), "wb")
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


class Conversation:
    """One controller at the other end of a socket."""

    def __init__(self, daemon: Daemon, connection: socket.socket) -> None:
        self._daemon = daemon
        self._connection = connection
        self._writing = threading.Lock()
        self._is_over = threading.Event()

    def run(self) -> None:
        """Answers requests and hands over events until the other side goes."""
        daemon = self._daemon
        hello = {"version": VERSION, "boot_id": consult.boot_id(), "pid": os.getpid(), "facts": daemon.facts()}
        self._send({"hello": dict(hello, spool_from=daemon.spool.first)})
        threading.Thread(target=self._hand_over, daemon=True).start()
        decoder = frames.Decoder()
        try:
            while True:
                data = self._connection.recv(65536)
                if not data:
                    return
                for request in decoder.feed(data):
                    self._take(request)
        except (OSError, frames.Garbled):
            return
        finally:
            self._is_over.set()

    def _take(self, request: Dict[str, Any]) -> None:
        if "ack" in request:
            self._daemon.spool.acknowledge(int(request["ack"]))
        elif request.get("do") in _QUICK or _is_quick(request):
            self._send(self._daemon.answer(request))
        else:
            threading.Thread(target=lambda: self._send(self._daemon.answer(request)), daemon=True).start()

    def _hand_over(self) -> None:
        sent = 0
        while not self._is_over.is_set():
            for event in self._daemon.spool.after(sent, 0.5):
                sent = event["sequence"]
                if not self._send({"event": event}):
                    return

    def _send(self, document: Dict[str, Any]) -> bool:
        try:
            with self._writing:
                self._connection.sendall(frames.encode(document))
        except OSError:
            return False
        return True


def _is_quick(request: Dict[str, Any]) -> bool:
    """Reading a small file needs no thread of its own."""
    given = request.get("with") if request.get("do") == "perform" else None
    act = given.get("act") if isinstance(given, dict) else None
    return isinstance(act, dict) and act.get("act") == "consult" and act.get("subject") in ("boot", "process", "identity")
