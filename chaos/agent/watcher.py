"""Looks at everything that is watched: one thread turns over all watches. What is watched outlives the daemon."""

import json
import threading
import time
from typing import Any, Dict, List, Optional, Type

from .files import replace
from .homes import Home
from .lines import KernelLog, Lines
from .watch import Tell, Watch
from .watches import Cgroup, Devices, Link, Processes

KINDS: Dict[str, Type[Watch]] = {
    "kernel_log": KernelLog,
    "link": Link,
    "nvml": Devices,
    "processes": Processes,
    "lines": Lines,
    "cgroup": Cgroup,
}


class Watcher(threading.Thread):
    """Turns over all watches."""

    def __init__(self, home: Home, tell: Tell) -> None:
        super().__init__(daemon=True)
        self._home = home
        self._tell = tell
        self._watches: Dict[str, Watch] = {}
        self._known: Dict[str, Dict[str, Any]] = {}
        self._lock = threading.Lock()

    def resume(self) -> None:
        """Goes on with what an earlier daemon of this run watched, and says that nobody looked in between."""
        try:
            with open(self._home.at("watches", "known"), "rb") as file:
                known = dict(json.loads(file.read()))
        except (OSError, ValueError):
            return
        for name, given in known.items():
            why = "the agent was started again"
            try:
                self.add(name, **given)
            except (OSError, ValueError, KeyError, TypeError) as error:
                why = "the agent was started again and cannot look: %s" % error
            self._tell("watch.gap", {"watch": name, "why": why, "lost": None})

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
                self._know(name, {"kind": kind, "arguments": arguments, "period": period})

    def _know(self, name: str, given: Optional[Dict[str, Any]]) -> None:
        self._known.pop(name, None)
        if given is not None:
            self._known[name] = given
        self._home.made("watches")
        replace(self._home.at("watches", "known"), json.dumps(self._known).encode())

    def remove(self, name: str, forget: bool = True) -> None:
        """Ends looking. Without ``forget`` a later watch of this name goes on where this one ended."""
        with self._lock:
            watch = self._watches.pop(name, None)
            if watch is None:
                return
            self._know(name, None)
        self._look(watch)
        watch.close()
        if forget:
            watch.forget()

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
