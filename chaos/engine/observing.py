"""Turns what agents send into the record: transitions into the ledger, raw series beside it, live progress for the loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chaos.engine.clocks import Clocks
from chaos.engine.progress import Progress
from chaos.ledger.series import Series
from chaos.ledger.writing import Ledger
from chaos.model.events import NodeLost, NodeReached, Observed
from chaos.model.guards import NodeEvent
from chaos.model.observations import SERIES
from chaos.protocols.clock import Clock
from chaos.protocols.workload import Reading, Workload


class Followed:
    """A load whose lines are read: its workload, its live progress, and its raw series."""

    def __init__(self, name: str, workload: Workload, progress: Progress, series: Series) -> None:
        self.name = name
        self.workload = workload
        self.progress = progress
        self.series = series
        self.readings: list[Reading] = []


class Observer:
    """Takes node events one by one and books each where it belongs."""

    def __init__(self, ledger: Ledger, clocks: Clocks, clock: Clock) -> None:
        self._ledger = ledger
        self._clocks = clocks
        self._clock = clock
        self._jobs: dict[str, Followed] = {}
        self.unread_lines = 0

    def follow(self, followed: Followed, jobs: Iterable[str]) -> None:
        """From now on, lines of these jobs belong to this load."""
        for job in jobs:
            self._jobs[job] = followed

    def forget(self, followed: Followed) -> None:
        """The load has ended; its series is sealed into the record."""
        self._jobs = {job: other for job, other in self._jobs.items() if other is not followed}
        self.seal(followed)

    def seal(self, followed: Followed) -> None:
        """What was seen so far becomes evidence."""
        if attached := followed.series.seal():
            self._ledger.append(attached)

    def flush(self) -> None:
        """Raw rows outlive this process from here on."""
        for followed in set(self._jobs.values()):
            followed.series.flush()

    def take(self, event: NodeEvent) -> Observed | None:
        """Books one event; what it became, or None when it says nothing that is kept."""
        arrived = self._clock.now()
        if event.kind == "channel.lost":
            self._ledger.append(NodeLost(event.node, arrived, str(event.body.get("why", ""))))
            return None
        if event.kind == "channel.restored":
            facts = {key: value for key, value in event.body.items() if key != "boot_id"}
            self._ledger.append(NodeReached(event.node, arrived, str(event.body.get("boot_id", event.boot_id)), facts))
            return None
        if event.kind == "job.line":
            return self._line(event, arrived)
        return self._book(event, event.kind, event.at, dict(event.body), arrived=arrived)

    def _line(self, event: NodeEvent, arrived: float) -> Observed | None:
        followed = self._jobs.get(str(event.body.get("job")))
        if followed is None:
            return None
        reading = followed.workload.read(str(event.body.get("line", "")))
        if reading is None:
            self.unread_lines += 1
            return None
        followed.readings.append(reading)
        at = event.at if reading.at is None else reading.at
        return self._book(event, reading.what, at, dict(reading.data), arrived=arrived, followed=followed)

    def _book(
        self,
        event: NodeEvent,
        what: str,
        at: float,
        data: dict[str, Any],
        *,
        arrived: float,
        followed: Followed | None = None,
    ) -> Observed:
        moment, error = self._clocks.controller_time(event.node, event.boot_id, at, arrived=arrived)
        seen = Observed(event.node, what, moment, error, data, followed.name if followed else "")
        if followed is not None and what in SERIES:
            followed.series.add(seen)
        else:
            self._ledger.append(seen)
        if followed is not None:
            followed.progress.feed(seen)
        return seen
