"""Watches of growing files: programs' lines, and the kernel log."""

import os
import re
from typing import Any, Optional, Tuple

from . import consult
from .files import replace
from .watch import Watch

_RECORD = re.compile(rb"^(\d+),(\d+),(\d+),[^;]*;(.*)$")
_ANGLED = re.compile(rb"^<(\d+)>(?:\[\s*([\d.]+)\]\s?)?(.*)$")
_MARK = "[chaos "


class Lines(Watch):
    """A growing file, line by line. ``from_start``: also what stands in it already.

    How far it was read stands in a file, so that the next daemon goes on there and tells no line twice (``is_resumed``).
    """

    from_start = True
    is_resumed = True

    def open(self) -> None:
        self.path = self.home.fill(self.arguments["path"])
        self._file: Optional[Any] = None
        self._inode = 0
        self._rest = b""
        self._open_at(self._resumed() if self.is_resumed else None, at_end=not self.from_start)

    def _open_at(self, place: Optional[Tuple[int, int]] = None, at_end: bool = False) -> None:
        try:
            file = open(self.path, "rb", buffering=0)
        except OSError:
            return
        self._file, self._inode, self._rest = file, os.fstat(file.fileno()).st_ino, b""
        if place is not None and place[0] == self._inode:
            file.seek(place[1])
        elif at_end and place is None:
            file.seek(0, os.SEEK_END)
        self._keep_place()

    @property
    def _place(self) -> str:
        return self.home.at("watches", self.name.replace("/", "-") + ".place")

    def _resumed(self) -> Optional[Tuple[int, int]]:
        inode, _, offset = consult.text_of(self._place).partition(" ")
        return (int(inode), int(offset)) if inode.isdigit() and offset.isdigit() else None

    def _keep_place(self) -> None:
        if self.is_resumed and self._file is not None:
            self.home.made("watches")
            try:
                replace(self._place, b"%d %d" % (self._inode, self._file.tell() - len(self._rest)))
            except OSError:
                return  # a full disk costs a line told twice, not the line

    def forget(self) -> None:
        if self.is_resumed and os.path.exists(self._place):
            os.unlink(self._place)

    def look(self) -> None:
        if self._file is None:
            self._open_at()
        if self._file is None:
            return
        self._read_on()
        if self._is_another():
            self.tell("watch.gap", {"watch": self.name, "why": "the file was rotated or cut", "lost": None})
            self.close()
            self._open_at()
            self._read_on()

    def _read_on(self) -> None:
        has_read = False
        while True:
            data = self._file.read(1 << 16) if self._file else b""
            if not data:
                break
            has_read = True
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self.line(line)
        if has_read:
            self._keep_place()

    def _is_another(self) -> bool:
        try:
            seen = os.stat(self.path)
        except OSError:
            return False
        return self._file is not None and (seen.st_ino != self._inode or seen.st_size < self._file.tell())

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
        if not line.strip() or (line.startswith(b" ") and self._sequence is not None):
            return  # a line that begins with a blank goes on about the device of the record before
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
