"""Rounds and steps of a training load.

A *round* is one set of processes between two rendezvous. A step is done when every rank of its round has reported it; a step that
some rank never reported did not happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from chaos.model.events import WorkloadStarted
from chaos.model.history import History
from chaos.model.observations import Observation


@dataclass(frozen=True, slots=True)
class DoneStep:
    """A step that all ranks ended. ``at``: the last of them; ``seconds``: the slowest rank's own measure."""

    step: int
    at: float
    error: float
    seconds: float
    reports: tuple[Observation, ...]

    @property
    def evidence(self) -> tuple[int, ...]:
        """The events that hold the reports."""
        return tuple(sorted({report.evidence for report in self.reports}))


@dataclass(slots=True)
class Round:
    """One set of processes. Reports are kept by rank; ``world`` is the size that the ranks themselves give."""

    number: int
    world: int = 0
    rendezvous: dict[str, Observation] = field(default_factory=dict)
    up: dict[int, Observation] = field(default_factory=dict)
    communicator: dict[int, Observation] = field(default_factory=dict)
    loaded: dict[int, Observation] = field(default_factory=dict)
    steps: list[DoneStep] = field(default_factory=list)

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that take part."""
        return frozenset(report.node for report in self.up.values())

    @property
    def bound(self) -> Observation | None:
        """The last node's word that the rendezvous is complete, when every node of the round has given it."""
        words = [self.rendezvous[node] for node in self.nodes if node in self.rendezvous]
        if not words or len(words) < len(self.nodes):
            return None
        return max(words, key=lambda report: report.at)

    def complete(self, reports: Mapping[int, Observation]) -> Observation | None:
        """The last of the reports when every rank has one, or None."""
        if not self.world or len(reports) < self.world:
            return None
        return max(reports.values(), key=lambda report: report.at)


@dataclass(frozen=True, slots=True)
class Progress:
    """All rounds of a load in order, and its done steps sorted by time with the round that each belongs to."""

    rounds: tuple[Round, ...]
    steps: tuple[tuple[float, int, DoneStep], ...]

    def round_at(self, moment: float) -> int | None:
        """The index of the round that had done a step last before a moment, or the first one up by then."""
        before = [index for at, index, _ in self.steps if at <= moment]
        return before[-1] if before else None


def progress(history: History, workload: str) -> Progress:
    """The rounds and done steps of a load."""
    return history.remember(("progress", workload), lambda: _Sweep(history, workload).run())


def pace(steps: tuple[DoneStep, ...]) -> float | None:
    """The median step time in seconds, or None without steps."""
    return median(step.seconds for step in steps) if steps else None


class _Sweep:
    """Walks the reports once in the order of time and puts each to the round of its process."""

    def __init__(self, history: History, workload: str) -> None:
        self._rounds: dict[tuple[int, int], Round] = {}
        self._current: dict[tuple[str, int], tuple[int, int]] = {}
        self._open: dict[tuple[int, int, int], dict[int, Observation]] = {}
        self._starts = [body.at for _, body in history.of(WorkloadStarted) if body.workload == workload][1:]
        kinds = ("rendezvous.done", "rank.up", "rank.communicator", "rank.loaded", "rank.step")
        self._reports = history.observations(*kinds, workload=workload)

    def run(self) -> Progress:
        for report in self._reports:
            rank = report.data.get("rank")
            if report.what == "rendezvous.done":
                self._round(report).rendezvous[report.node] = report
            elif isinstance(rank, int):
                self._take(report, rank)
        keys = list(self._rounds)
        steps = [(step.at, keys.index(key), step) for key, group in self._rounds.items() for step in group.steps]
        return Progress(tuple(self._rounds.values()), tuple(sorted(steps, key=lambda entry: entry[0])))

    def _take(self, report: Observation, rank: int) -> None:
        if report.what == "rank.up":
            self._begin(report, rank)
            return
        key = self._current.get((report.node, rank))
        if key is None:
            return
        group = self._rounds[key]
        if report.what == "rank.communicator":
            group.communicator[rank] = report
        elif report.what == "rank.loaded":
            group.loaded[rank] = report
        else:
            self._step(key, group, report, rank)

    def _key(self, report: Observation) -> tuple[int, int]:
        number = report.data.get("round", 0)
        return sum(1 for at in self._starts if report.at >= at), number if isinstance(number, int) else 0

    def _round(self, report: Observation) -> Round:
        key = self._key(report)
        return self._rounds.setdefault(key, Round(key[1]))

    def _begin(self, report: Observation, rank: int) -> None:
        group, world = self._round(report), report.data.get("world")
        group.world = max(group.world, world if isinstance(world, int) else 0)
        group.up[rank] = report
        self._current[report.node, rank] = self._key(report)

    def _step(self, key: tuple[int, int], group: Round, report: Observation, rank: int) -> None:
        number = report.data.get("step")
        if not isinstance(number, int):
            return
        reports = self._open.setdefault((*key, number), {})
        reports[rank] = report
        if len(reports) == group.world:
            del self._open[(*key, number)]
            last = max(reports.values(), key=lambda seen: seen.at)
            slowest = max(_seconds(seen) for seen in reports.values())
            group.steps.append(DoneStep(number, last.at, last.error, slowest, tuple(reports[r] for r in sorted(reports))))


def _seconds(report: Observation) -> float:
    value = report.data.get("seconds")
    return float(value) if isinstance(value, int | float) else 0.0
