"""A read-only view of a run's events: the one thing that criteria see."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chaos.model.events import Attached, Body, Event, Observed, RunClosed, RunOpened, WorkloadStarted
from chaos.model.observations import Observation

B = TypeVar("B", bound=Body)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class History:
    """Events in order, and the raw series that they attach by hash.

    ``series`` maps the name of an attachment to its rows. A series whose bytes do not match the sealed hash is not handed in: its
    name stands in ``damaged`` instead, and what depends on it is missing evidence.
    """

    events: tuple[Event, ...]
    series: Mapping[str, tuple[Observed, ...]] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()
    _remembered: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def remember(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a fold over this history, computed once. The key names the fold and its arguments."""
        if key not in self._remembered:
            self._remembered[key] = make()
        value: V = self._remembered[key]
        return value

    def of(self, kind: type[B]) -> tuple[tuple[int, B], ...]:
        """Bodies of one type with their event numbers, in order."""
        found: tuple[tuple[int, B], ...] = self.remember("bodies", self._by_type).get(kind, ())
        return found

    @property
    def opening(self) -> RunOpened | None:
        """How the run was opened, or None when the record does not begin."""
        return next((body for _, body in self.of(RunOpened)), None)

    @property
    def closing(self) -> RunClosed | None:
        """How the run was closed, or None when the record does not end."""
        return next((body for _, body in reversed(self.of(RunClosed))), None)

    def workload(self, name: str) -> WorkloadStarted | None:
        """How a load was started, the last time it was."""
        return next((body for _, body in reversed(self.of(WorkloadStarted)) if body.workload == name), None)

    def observations(self, *what: str, node: str | None = None, workload: str | None = None) -> tuple[Observation, ...]:
        """Observations from the ledger and from attached series, sorted by time. Series rows cite the event that attached them."""
        return self.remember(("observations", what, node, workload), lambda: self._choose(what, node, workload))

    def _choose(self, what: tuple[str, ...], node: str | None, workload: str | None) -> tuple[Observation, ...]:
        by_what = self.remember("observed", self._by_what)
        kinds = [by_what[kind] for kind in (dict.fromkeys(what) or by_what) if kind in by_what]
        chosen = [
            row for rows in kinds for row in rows if (node is None or row.node == node) and workload in (None, row.workload)
        ]
        return tuple(sorted(chosen, key=_time))

    def _by_type(self) -> dict[type, tuple[tuple[int, Any], ...]]:
        sorted_out: dict[type, list[tuple[int, Any]]] = {}
        for event in self.events:
            sorted_out.setdefault(type(event.body), []).append((event.sequence, event.body))
        return {kind: tuple(bodies) for kind, bodies in sorted_out.items()}

    def _by_what(self) -> dict[str, list[Observation]]:
        rows = [_observation(sequence, body) for sequence, body in self.of(Observed)]
        for sequence, attached in self.of(Attached):
            rows += [_observation(sequence, row) for row in self.series.get(attached.name, ())]
        sorted_out: dict[str, list[Observation]] = {}
        for row in rows:
            sorted_out.setdefault(row.what, []).append(row)
        return sorted_out


def _time(row: Observation) -> float:
    return row.at


def _observation(sequence: int, body: Observed) -> Observation:
    return Observation(body.node, body.what, body.at, body.error, body.data, body.workload, sequence)
