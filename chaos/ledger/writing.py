"""The only place that writes a run's record: sealed, and on the disk before the act that it announces."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from chaos.errors import LeaseHeld, LedgerError
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import Record, read_record
from chaos.ledger.sealing import seal_record
from chaos.model.events import Body, Event
from chaos.protocols.clock import Clock


class Ledger:
    """The open record of a run. One process writes it at a time; the lock is freed by the kernel when that process dies."""

    def __init__(self, folder: RunFolder, clock: Clock) -> None:
        """Opens or begins the record.

        Raises:
            LeaseHeld: another process writes this run.
            Damaged: the record was altered.
        """
        self.folder = folder.make()
        self._clock = clock
        self._lock = _take_lock(folder.lock)
        try:
            record = _cut_torn_end(folder.ledger)
            self._file = os.open(folder.ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except BaseException:
            os.close(self._lock)
            raise
        _sync_folder(folder.path)
        self._events = list(record.events)
        self._head = record.head

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return tuple(self._events)

    @property
    def head(self) -> str:
        """The seal of the last event."""
        return self._head

    def append(self, body: Body) -> Event:
        """Adds an event; when this returns it is on the disk.

        Raises:
            LedgerError: it could not be written, for instance because the disk is full. Nothing may be done that it announced.
        """
        event, line = seal_record(len(self._events) + 1, self._clock.stamp(), body, self._head)
        try:
            _write_whole(self._file, line)
        except OSError as error:
            raise LedgerError(
                f"record {body.kind}",
                where=str(self.folder.ledger),
                why=error.strerror or str(error),
                todo="free space, then run again",
            ) from error
        self._events.append(event)
        self._head = event.seal
        return event

    def close(self) -> None:
        """Gives the run free for another process."""
        os.close(self._file)
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _take_lock(path: Path) -> int:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(lock, 64, 0).decode(errors="replace").strip()
        os.close(lock)
        raise LeaseHeld(
            "open the run for writing",
            where=str(path.parent),
            why=f"process {holder or 'unknown'} writes it",
            todo="wait for it, or read the run with --replay",
        ) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def _cut_torn_end(path: Path) -> Record:
    if not path.exists():
        return Record((), 0, 0)
    record = read_record(path)
    if record.torn_bytes:
        os.truncate(path, record.intact_bytes)
    return record


def _write_whole(file: int, line: bytes) -> None:
    """Writes all or nothing that counts: after a short write the end is cut, so that a later line cannot join a torn one."""
    start = os.fstat(file).st_size
    try:
        written = os.write(file, line)
        os.fdatasync(file)
    except OSError:
        os.ftruncate(file, start)
        raise
    if written != len(line):
        os.ftruncate(file, start)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
