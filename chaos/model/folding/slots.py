"""Availability in its four readings, out of the states of nodes.

A *slot* is a place that the seller promised to keep in service. Its holder may break: the slot is out of service until the holder
passes its gate again or a spare has come up in its place. What an injection did to its own target leaves both sides of the fraction;
what it did elsewhere, or left behind, does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from chaos.model.events import WorkloadStarted
from chaos.model.folding.node_states import NodeStates, Window, node_states, window
from chaos.model.folding.recovery_path import STALL_RATIO
from chaos.model.folding.steps import progress
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.intervals import Spans


@dataclass(frozen=True, slots=True)
class Share:
    """Seconds in service, out of it and unobserved. Unobserved time is neither: it makes the share an interval."""

    up: float
    down: float
    unknown: float

    @property
    def total(self) -> float:
        """All seconds that count."""
        return self.up + self.down + self.unknown

    @property
    def low(self) -> float | None:
        """The share when all unobserved time was down."""
        return self.up / self.total if self.total > 0 else None

    @property
    def high(self) -> float | None:
        """The share when all unobserved time was up."""
        return (self.up + self.unknown) / self.total if self.total > 0 else None

    @property
    def point(self) -> float | None:
        """The share of the observed time."""
        return self.up / (self.up + self.down) if self.up + self.down > 0 else None

    def __add__(self, other: Share) -> Share:
        return Share(self.up + other.up, self.down + other.down, self.unknown + other.unknown)


@dataclass(frozen=True, slots=True)
class Service:
    """Availability of one run. ``outages``: slot outages that count, as (node, start, end); ``removed``: seconds of slots taken out."""

    window: Window
    slots: int
    capacity: Share
    node: Share
    enough_nodes: Share
    job: Share
    outages: tuple[tuple[str, float, float], ...]
    removed: float


def service(history: History) -> Service:
    """The four readings over the whole run."""
    return history.remember("service", lambda: _service(history))


def _service(history: History) -> Service:
    states, graded, opening = node_states(history), window(history), history.opening
    slots = opening.contracted_slots if opening else 0
    held = _holders(history, graded, opening.nodes[:slots] if opening else ())
    shares, outages, removed = Share(0, 0, 0), [], 0.0
    for terms in held:
        for node, start, end in terms:
            term = Spans.of([(start, end)])
            state = states.get(node) or NodeStates(node, Spans(), term, Spans())
            gone = state.down & state.excused & term
            counted = state.down - state.excused
            shares += _share(term - gone, counted, state.unknown - state.excused, (state.unknown & state.excused))
            removed += gone.total
            outages += [(node, i.start, i.end) for i in counted.clip(start, end) if i.start < end]
    everyone = [
        _share(graded.spans - (s.down & s.excused), s.down - s.excused, s.unknown - s.excused, s.unknown & s.excused)
        for s in states.values()
    ]
    return Service(
        graded,
        slots,
        shares,
        sum(everyone, Share(0, 0, 0)),
        _enough(states, graded, slots),
        _job(history),
        tuple(outages),
        removed,
    )


def _share(span: Spans, down: Spans, unknown: Spans, unknown_in_drill: Spans) -> Share:
    """Time while the target of an injection could not be seen is removed like its injected outage."""
    counted = span - unknown_in_drill
    out = (counted & down).total
    blind = (counted & (unknown - down)).total
    return Share(counted.total - out - blind, out, blind)


def _holders(history: History, graded: Window, first: tuple[str, ...]) -> list[list[tuple[str, float, float]]]:
    """For each slot, who held it from when to when."""
    holders = list(first)
    since = [graded.start] * len(holders)
    terms: list[list[tuple[str, float, float]]] = [[] for _ in holders]
    for at, members in _memberships(history):
        vacant = [index for index, name in enumerate(holders) if name not in members]
        coming = sorted(members - set(holders))
        if at <= graded.start or at > graded.end:
            continue
        for index, name in zip(vacant, coming, strict=False):
            terms[index].append((holders[index], since[index], at))
            holders[index], since[index] = name, at
    for index, name in enumerate(holders):
        terms[index].append((name, since[index], graded.end))
    return terms


def _memberships(history: History) -> list[tuple[float, frozenset[str]]]:
    names = dict.fromkeys(body.workload for _, body in history.of(WorkloadStarted))
    found = []
    for name in names:
        for group in progress(history, name).rounds:
            last = group.complete(group.up)
            if last is not None:
                found.append((last.at, group.nodes))
    return sorted(found, key=lambda entry: entry[0])


def _enough(states: dict[str, NodeStates], graded: Window, slots: int) -> Share:
    """Time with at least as many nodes in service as there are slots, spares counted; injected outages leave the window."""
    excused = Spans()
    for state in states.values():
        excused |= (state.down | state.unknown) & state.excused
    counted = graded.spans - excused
    edges = {edge for i in counted for edge in (i.start, i.end)}
    for state in states.values():
        edges |= {edge for i in (*state.down, *state.unknown) for edge in (i.start, i.end)}
    result = Share(0, 0, 0)
    for start, end in pairwise(sorted(edges)):
        middle = (start + end) / 2
        if not counted.contains(middle):
            continue
        down = sum(1 for state in states.values() if state.down.contains(middle))
        blind = sum(1 for state in states.values() if state.unknown.contains(middle))
        result += _of_count(len(states) - down, blind, slots, end - start)
    return result


def _of_count(not_down: int, blind: int, slots: int, length: float) -> Share:
    if not_down < slots:
        return Share(0, length, 0)
    return Share(0, 0, length) if not_down - blind < slots else Share(length, 0, 0)


def _job(history: History) -> Share:
    """Time of the drilled jobs without a stall that nobody injected."""
    drilled = [(line.marks["T0"].at, line.marks["T10"].at or line.marks["T9"].at) for line in timelines(history)]
    ours = Spans.of((start, end) for start, end in drilled if start is not None and end is not None and end >= start)
    result = Share(0, 0, 0)
    for name in dict.fromkeys(body.workload for _, body in history.of(WorkloadStarted)):
        steps = [step for _, _, step in progress(history, name).steps]
        result += _stalls([step.at for step in steps], ours)
    return result


def _stalls(ends: list[float], ours: Spans) -> Share:
    if len(ends) < 3:
        return Share(0, 0, 0)
    gaps = sorted(second - first for first, second in pairwise(ends))
    usual = gaps[len(gaps) // 2]
    whole = Spans.of([(ends[0], ends[-1])]) - ours
    stalled = Spans.of((first + usual, second) for first, second in pairwise(ends) if second - first > STALL_RATIO * usual) - ours
    return Share(whole.total - (stalled & whole).total, (stalled & whole).total, 0)
