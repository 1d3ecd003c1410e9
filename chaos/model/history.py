"""A read-only view of a run's events: the one thing that criteria see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from chaos.model.events import Attached, Body, Event, Observed, RunOpened, WorkloadStarted
from chaos.model.observations import Observation

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class History:
    """Events in order, and the raw series that they attach by hash.

    ``series`` maps the name of an attachment to its rows. A series whose bytes do not match the sealed hash is not handed in: its
    name stands in ``damaged`` instead, and what depends on it is missing evidence.
    """

    events: tuple[Event, ...]
    series: Mapping[str, tuple[Observed, ...]] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()

    def of(self, kind: type[B]) -> tuple[tuple[int, B], ...]:
        """Bodies of one type with their event numbers, in order."""
        return tuple((event.sequence, event.body) for event in self.events if isinstance(event.body, kind))

    @property
    def opening(self) -> RunOpened | None:
        """How the run was opened, or None when the record does not begin."""
        return next((body for _, body in self.of(RunOpened)), None)

    def workload(self, name: str) -> WorkloadStarted | None:
        """How a load was started, the last time it was."""
        return next((body for _, body in reversed(self.of(WorkloadStarted)) if body.workload == name), None)

    def observations(self, *what: str, node: str | None = None, workload: str | None = None) -> tuple[Observation, ...]:
        """Observations from the ledger and from attached series, sorted by time. Series rows cite the event that attached them."""
        rows = [_observation(sequence, body) for sequence, body in self.of(Observed)]
        for sequence, attached in self.of(Attached):
            rows += [_observation(sequence, row) for row in self.series.get(attached.name, ())]
        chosen: Iterable[Observation] = (
            row
            for row in rows
            if (not what or row.what in what) and node in (None, row.node) and workload in (None, row.workload)
        )
        return tuple(sorted(chosen, key=lambda row: row.at))


def _observation(sequence: int, body: Observed) -> Observation:
    return Observation(body.node, body.what, body.at, body.error, body.data, body.workload, sequence)
