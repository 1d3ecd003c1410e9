"""Opens a record: verified to the last byte, the torn end cut off in mind but not in the file, any other damage refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from chaos.errors import Damaged, UsageError
from chaos.ledger.folder import RunFolder
from chaos.ledger.sealing import GENESIS, open_record
from chaos.model.encoding import decode_body
from chaos.model.events import Attached, Event, Observed
from chaos.model.history import History


@dataclass(frozen=True, slots=True)
class Record:
    """The events of a file, how many of its bytes they take, and how many more were torn off by a crash."""

    events: tuple[Event, ...]
    intact_bytes: int
    torn_bytes: int

    @property
    def head(self) -> str:
        """The seal of the last event: it vouches for all of them."""
        return self.events[-1].seal if self.events else GENESIS


def read_record(path: Path) -> Record:
    """The verified events of a ledger file.

    A last line without its newline is what a crash in the middle of a write leaves: it was never acknowledged and is left out.

    Raises:
        Damaged: any other line does not verify; the message names it.
        UsageError: there is no such file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            "read the ledger", where=str(path), why=error.strerror or str(error), todo="name a run folder that has a ledger.jsonl"
        ) from error
    end = content.rfind(b"\n") + 1
    events: list[Event] = []
    previous = GENESIS
    for number, line in enumerate(content[:end].splitlines(), start=1):
        event = _verified(path, line, number, previous)
        events.append(event)
        previous = event.seal
    return Record(tuple(events), end, len(content) - end)


def _verified(path: Path, line: bytes, number: int, previous: str) -> Event:
    try:
        return open_record(line, number, previous)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(
            "verify the ledger",
            where=f"{path}:{number}",
            why=f"{error}; {line[:120]!r}",
            todo="restore the file from a copy: a verdict over an altered record would be worth nothing",
        ) from error


def read_history(run: Path) -> History:
    """The history of a run folder (or of a ledger file alone), with every series whose bytes match the sealed hash."""
    file = run if run.is_file() else RunFolder(run).ledger
    record = read_record(file)
    series: dict[str, tuple[Observed, ...]] = {}
    damaged: list[str] = []
    for attached in _series_of(record.events):
        rows = _rows(file.parent / attached.path, attached)
        if rows is None:
            damaged.append(attached.name)
        else:
            series[attached.name] = rows
    return History(record.events, series, tuple(damaged))


def _series_of(events: Iterable[Event]) -> Iterable[Attached]:
    return (event.body for event in events if isinstance(event.body, Attached) and event.body.content == "series")


def _rows(path: Path, attached: Attached) -> tuple[Observed, ...] | None:
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != attached.sha256:
            return None
        rows = tuple(decode_body(Observed.kind, json.loads(line)) for line in content.splitlines())
    except (OSError, ValueError):
        return None
    return tuple(row for row in rows if isinstance(row, Observed))
