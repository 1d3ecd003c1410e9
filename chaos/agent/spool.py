"""What was seen and not yet acknowledged: kept in memory and in a file, bounded, handed over in order."""

import json
import os
import threading
import time
from collections import deque
from typing import Any, BinaryIO, Deque, Dict, List, Optional

from .consult import boot_id
from .files import replace
from .homes import Home

MOST = 200_000
_SLACK = 1000
"""Lines that the file may hold beyond twice what is wanted, before it is written anew."""


class Spool:
    """Events with numbers that have no gap. What overflows is said, as ``watch.gap``.

    The file holds a line for each event and for each acknowledgement, and is written anew when most of it has been forgotten.
    """

    def __init__(self, home: Home, most: int = MOST) -> None:
        self._path = home.at("spool")
        self._most = most
        self._events: Deque[Dict[str, Any]] = deque()
        self._lock = threading.Condition()
        self._lost = 0
        self._boot = boot_id()
        self._next = 1
        self._file: Optional[BinaryIO] = None
        self._written = 0
        self._load()
        self._rewrite()

    def _load(self) -> None:
        """Takes up what an earlier daemon of this run left; the line at which it was killed may be torn."""
        if not os.path.exists(self._path):
            return
        with open(self._path, "rb") as file:
            for line in file:
                try:
                    self._recall(json.loads(line))
                except (ValueError, KeyError, TypeError):
                    continue

    def _recall(self, document: Dict[str, Any]) -> None:
        if "ack" in document:
            self._drop(int(document["ack"]))
            self._next = max(self._next, int(document["ack"]) + 1)
            return
        self._next = int(document["sequence"]) + 1
        self._events.append(document)
        self._make_room(self._most)

    def _rewrite(self) -> None:
        """Writes the file anew with what is still wanted. The first line keeps the numbers going when nothing is."""
        first = self._events[0]["sequence"] if self._events else self._next
        lines = [{"ack": first - 1}, *self._events]
        replace(self._path, b"".join(json.dumps(line).encode() + b"\n" for line in lines), 0o600)
        self._written = len(lines)
        self.close()
        self._file = open(self._path, "ab", buffering=0)

    def _append(self, document: Dict[str, Any]) -> None:
        """A full disk costs what a later daemon would know, never what this one knows."""
        try:
            if self._written > 2 * len(self._events) + _SLACK:
                self._rewrite()
            elif self._file is not None:
                self._file.write(json.dumps(document).encode() + b"\n")
                self._written += 1
        except OSError:
            return

    def close(self) -> None:
        """Lets go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, kind: str, body: Dict[str, Any], at: float = 0.0) -> None:
        """Books an event of now, or of a moment on the monotonic clock."""
        with self._lock:
            if self._lost and len(self._events) + 2 <= self._most:
                lost, self._lost = self._lost, 0
                self._put("watch.gap", {"watch": "spool", "why": "the spool overflowed", "lost": lost}, time.monotonic())
            self._put(kind, body, at or time.monotonic())
            self._lock.notify_all()

    def _put(self, kind: str, body: Dict[str, Any], at: float) -> None:
        self._make_room(self._most - 1)
        event = {"sequence": self._next, "at": at, "boot_id": self._boot, "kind": kind, "body": body}
        self._next += 1
        self._events.append(event)
        self._append(event)

    def _make_room(self, most: int) -> None:
        while len(self._events) > most:
            self._events.popleft()
            self._lost += 1

    def acknowledge(self, sequence: int) -> None:
        """Forgets everything up to a number."""
        with self._lock:
            if self._drop(sequence):
                self._append({"ack": sequence})

    def _drop(self, sequence: int) -> bool:
        before = len(self._events)
        while self._events and self._events[0]["sequence"] <= sequence:
            self._events.popleft()
        return len(self._events) < before

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
