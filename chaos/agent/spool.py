"""What was seen and not yet acknowledged: kept in memory and in a file, bounded, handed over in order."""

import json
import os
import threading
import time
from collections import deque
from typing import Any, Deque, Dict, List

from .consult import boot_id
from .homes import Home

MOST = 200_000


class Spool:
    """Events with numbers that have no gap. What overflows is said, as ``watch.gap``."""

    def __init__(self, home: Home, most: int = MOST) -> None:
        self._path = home.at("spool")
        self._most = most
        self._events: Deque[Dict[str, Any]] = deque()
        self._lock = threading.Condition()
        self._lost = 0
        self._boot = boot_id()
        self._next = 1
        self._load()
        self._file = open(self._path, "ab", buffering=0)

    def _load(self) -> None:
        """Takes up what an earlier daemon of this run left."""
        if not os.path.exists(self._path):
            return
        with open(self._path, "rb") as file:
            for line in file:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                self._next = int(event["sequence"]) + 1
                self._events.append(event)

    def add(self, kind: str, body: Dict[str, Any], at: float = 0.0) -> None:
        """Books an event of now, or of a moment on the monotonic clock."""
        with self._lock:
            if len(self._events) >= self._most:
                self._events.popleft()
                self._lost += 1
            elif self._lost and kind != "watch.gap":
                lost, self._lost = self._lost, 0
                self._put("watch.gap", {"watch": "spool", "why": "the spool overflowed", "lost": lost}, time.monotonic())
            self._put(kind, body, at or time.monotonic())
            self._lock.notify_all()

    def _put(self, kind: str, body: Dict[str, Any], at: float) -> None:
        event = {"sequence": self._next, "at": at, "boot_id": self._boot, "kind": kind, "body": body}
        self._next += 1
        self._events.append(event)
        self._file.write(json.dumps(event).encode() + b"\n")

    def acknowledge(self, sequence: int) -> None:
        """Forgets everything up to a number."""
        with self._lock:
            while self._events and self._events[0]["sequence"] <= sequence:
                self._events.popleft()
            if not self._events and self._file.tell() > 1 << 20:
                self._file.truncate(0)

    def after(self, sequence: int, patience: float) -> List[Dict[str, Any]]:
        """What came after a number; waits for it as long as ``patience`` seconds."""
        with self._lock:
            if not self._events or self._events[-1]["sequence"] <= sequence:
                self._lock.wait(patience)
            return [event for event in self._events if event["sequence"] > sequence]

    @property
    def first(self) -> int:
        """The lowest number that is still here."""
        with self._lock:
            return int(self._events[0]["sequence"]) if self._events else self._next
