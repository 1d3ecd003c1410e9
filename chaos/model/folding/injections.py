"""Injections and the drills they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaos.model.events import WorkloadEnded, WorkloadStarted
from chaos.model.history import History
from chaos.model.injections import ControlSeen, DrillBegun, DrillEnded, InjectionIntended, InjectionMoved, InjectionState

_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Moment:
    """A time on the controller's clock, how far it may be off, and the event that says so."""

    at: float
    error: float
    evidence: int


@dataclass(frozen=True, slots=True)
class Injection:
    """One attempt at an injection: what was intended, the states it reached, and its negative control."""

    sequence: int
    intended: InjectionIntended
    moves: Mapping[InjectionState, tuple[int, InjectionMoved]]
    control: tuple[int, ControlSeen] | None

    @property
    def took_effect(self) -> Moment | None:
        """When the fault took effect. Without a proof of effect there is no such moment, whatever was applied."""
        if InjectionState.PROVEN not in self.moves:
            return None
        return self.reached(InjectionState.APPLIED) or self.reached(InjectionState.PROVEN)

    def reached(self, state: InjectionState) -> Moment | None:
        """When a state was reached, or None."""
        if state not in self.moves:
            return None
        sequence, move = self.moves[state]
        return Moment(move.at, move.error, sequence)

    @property
    def undone(self) -> Moment | None:
        """When the fault was undone, or was found to be over by itself."""
        return self.reached(InjectionState.UNDONE) or self.reached(InjectionState.CLEARED)

    @property
    def earliest_effect(self) -> float | None:
        """The first moment at which something seen on the node can come from this fault: from the arming on."""
        effect, armed = self.took_effect, self.reached(InjectionState.ARMED)
        if effect is None:
            return None
        earliest = effect.at - effect.error
        return min(earliest, armed.at) if armed else earliest

    @property
    def evidence(self) -> tuple[int, ...]:
        """The numbers of all events of this attempt."""
        control = (self.control[0],) if self.control else ()
        return (self.sequence, *(sequence for sequence, _ in self.moves.values()), *control)


def injections(history: History) -> tuple[Injection, ...]:
    """Every attempt at an injection, in the order in which they were intended."""
    return history.remember("injections", lambda: _injections(history))


def _injections(history: History) -> tuple[Injection, ...]:
    moves: dict[tuple[str, int], dict[InjectionState, tuple[int, InjectionMoved]]] = {}
    for sequence, move in history.of(InjectionMoved):
        moves.setdefault((move.injection, move.attempt), {})[move.state] = (sequence, move)
    controls: dict[str, tuple[int, ControlSeen]] = {}
    for sequence, seen in history.of(ControlSeen):
        kept = controls.get(seen.injection)
        if kept is None or not kept[1].flagged:
            controls[seen.injection] = (sequence, seen)
    return tuple(
        Injection(sequence, intended, moves.get((intended.injection, intended.attempt), {}), controls.get(intended.injection))
        for sequence, intended in history.of(InjectionIntended)
    )


@dataclass(frozen=True, slots=True)
class Drill:
    """A drill as the ledger tells it. ``horizon``: up to when what follows can be counted as its aftermath."""

    sequence: int
    begun: DrillBegun
    ended: tuple[int, DrillEnded] | None
    injection: Injection | None
    horizon: float

    @property
    def evidence(self) -> tuple[int, ...]:
        """The numbers of the drill's own events and of its injection's."""
        own = (self.sequence, self.ended[0]) if self.ended else (self.sequence,)
        return own + (self.injection.evidence if self.injection else ())


def drills(history: History) -> tuple[Drill, ...]:
    """Every drill, the last time that it was begun, with its last attempt at an injection."""
    return history.remember("drills", lambda: _drills(history))


def _drills(history: History) -> tuple[Drill, ...]:
    last = {begun.drill: (sequence, begun) for sequence, begun in history.of(DrillBegun)}
    starts = sorted(last.values(), key=lambda pair: pair[0])
    ends = {ended.drill: (sequence, ended) for sequence, ended in history.of(DrillEnded)}
    limits = [sequence for sequence, _ in starts[1:]] + [_NEVER]
    found = []
    for (sequence, begun), until in zip(starts, limits, strict=False):
        own = [i for i in injections(history) if sequence < i.sequence < until and i.intended.node == begun.node]
        ended = ends.get(begun.drill)
        kept = ended if ended and ended[0] > sequence else None
        found.append(Drill(sequence, begun, kept, own[-1] if own else None, _horizon(history, begun, sequence, until)))
    return tuple(found)


def _horizon(history: History, begun: DrillBegun, sequence: int, until: int) -> float:
    effects = (i.took_effect for i in injections(history) if i.sequence > until)
    later = next((moment.at for moment in effects if moment), None)
    # A load that the harness starts anew has not recovered by itself: its steps are no aftermath of the fault.
    stops: list[tuple[int, WorkloadEnded | WorkloadStarted]] = [*history.of(WorkloadEnded), *history.of(WorkloadStarted)]
    ends = [body.at for number, body in stops if number > sequence and body.workload == begun.workload]
    known = [moment for moment in (later, min(ends, default=None)) if moment is not None]
    return min(known, default=max(history.events[-1].stamp.monotonic, begun.at))


def planned_strikes(history: History) -> tuple[str, ...]:
    """The ids of the strikes that the run's plan holds; none when the run has no plan."""
    opening = history.opening
    steps: Any = opening.plan.get("steps", ()) if opening else ()
    return tuple(str(strike.get("id", "")) for step in steps for strike in step.get("strikes", ()))
