"""Writes a history by hand, as a ledger would hold it. Time is a number that only moves when told to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from chaos.model.events import Attached, Body, Event, Observed, Stamp
from chaos.model.history import History
from chaos.model.observations import SERIES

START = datetime(2026, 3, 1, 8, 0, 0, tzinfo=UTC)
INCARNATION = "c0ffee00-0000-4000-8000-000000000001"


class Recorder:
    """Events in order, numbered from 1, and series that are attached at the end of their load."""

    def __init__(self, at: float = 1000.0) -> None:
        self.at = at
        self._first = at
        self._events: list[Event] = []
        self._rows: list[Observed] = []
        self._series: dict[str, tuple[Observed, ...]] = {}

    def write(self, body: Body) -> int:
        """Appends a body at the present time; its event number."""
        utc = (START + timedelta(seconds=self.at - self._first)).isoformat()
        stamp = Stamp(utc, self.at, INCARNATION)
        self._events.append(Event(len(self._events) + 1, stamp, body))
        return len(self._events)

    def see(
        self, node: str, what: str, data: Mapping[str, Any], *, after: float = 0.0, workload: str = "", error: float = 0.002
    ) -> None:
        """Something seen ``after`` seconds from now; what belongs to a raw series waits for :meth:`attach`."""
        observed = Observed(node, what, round(self.at + after, 6), error, data, workload)
        if what in SERIES:
            self._rows.append(observed)
        else:
            self.write(observed)

    def attach(self, workload: str) -> None:
        """Attaches the raw series that a load left."""
        rows = tuple(row for row in self._rows if row.workload == workload)
        name = f"series/{workload}.jsonl"
        self._series[name] = rows
        self._rows = [row for row in self._rows if row.workload != workload]
        self.write(Attached(name, name, f"{len(rows):064x}", len(rows), "series", workload))

    def history(self) -> History:
        """What was written so far."""
        return History(tuple(self._events), dict(self._series))
