"""The marks T0..T11 of one drill, each from its own evidence. What was not needed and what is missing are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chaos.model.folding.full_speed import FullSpeed
from chaos.model.folding.injections import Drill, Moment
from chaos.model.folding.recovery_path import Passage
from chaos.model.folding.steps import DoneStep, Round
from chaos.model.observations import Alarm, Observation
from chaos.model.timeline import Mark, MarkState


@dataclass(frozen=True, slots=True)
class Signs:
    """What alarms say about one drill: the first of them, the one that names the culprit, and all."""

    first: Alarm | None
    culprit: Alarm | None
    all: tuple[Alarm, ...]


def mark_all(drill: Drill, effect: Moment | None, way: Passage, signs: Signs, wanted: FullSpeed) -> Mapping[str, Mark]:
    """All twelve marks by name."""
    marks = [
        _effect(effect),
        _of_step("T1", way.last_good, "no step was done by all ranks before the fault"),
        _of_alarm("T2", signs.first, way),
        _of_alarm("T3", signs.culprit, way),
        _isolated(drill, way, signs),
        *_restart_marks(way),
        _of_step("T9", way.first_new, "no step of all ranks was seen after the disturbance"),
        _caught_up(way),
        _full_speed(way, wanted),
    ]
    return {mark.name: mark for mark in marks}


def _missing(name: str, why: str) -> Mark:
    return Mark(name, MarkState.MISSING, cause=why)


def _not_needed(name: str, why: str) -> Mark:
    return Mark(name, MarkState.NOT_NEEDED, cause=why)


def _effect(effect: Moment | None) -> Mark:
    if effect is None:
        return _missing("T0", "no proof that the fault took effect")
    return Mark("T0", MarkState.SEEN, effect.at, effect.error, cause="proof of effect", evidence=(effect.evidence,))


def _of_step(name: str, step: DoneStep | None, why: str) -> Mark:
    if step is None:
        return _missing(name, why)
    return Mark(name, MarkState.SEEN, step.at, step.error, cause=f"step {step.step} done", evidence=step.evidence)


def _of_alarm(name: str, alarm: Alarm | None, way: Passage) -> Mark:
    if alarm is not None:
        return Mark(name, MarkState.SEEN, alarm.at, alarm.error, alarm.node, alarm.cause, (alarm.evidence,))
    if way.path == "ride out" and not way.stalled:
        return _not_needed(name, "the job went on without a stall")
    return _missing(name, "no alarm on any node" if name == "T2" else "no alarm named a culprit")


_LEAVES = (
    "health gate out",
    "process gone",
    "worker killed",
    "worker ended",
    "channel lost",
    "node booted",
    "elastic agent ended",
)


def _isolated(drill: Drill, way: Passage, signs: Signs) -> Mark:
    if way.path in {"ride out", "degrade"}:
        return _not_needed("T4", f"{way.path}: nothing was taken out of the job")
    node = drill.begun.node
    leaving = [a for a in signs.all if a.node == node and a.cause.startswith(_LEAVES)]
    marks = [Mark("T4", MarkState.SEEN, a.at, a.error, node, a.cause, (a.evidence,)) for a in leaving[:1]]
    if way.new is not None and way.new.up:
        marks.append(_left_out(way.new, node))
    return min(marks, key=lambda mark: mark.at or 0.0) if marks else _missing("T4", f"nothing shows that {node} left the job")


def _left_out(group: Round, node: str) -> Mark:
    """The processes of the next round are up: either without the node, or in place of those it had."""
    first = min(group.up.values(), key=lambda report: report.at)
    cause = "its processes were replaced" if node in group.nodes else "the next round has no place for it"
    return Mark("T4", MarkState.SEEN, first.at, first.error, node, cause, (first.evidence,))


_RESTART_NAMES = (
    ("T5", "no rendezvous of a later round was complete"),
    ("T6", "not every rank of the new round came up"),
    ("T7", "not every rank has proven a first collective"),
    ("T8", "not every rank has loaded a checkpoint"),
)


def _restart_marks(way: Passage) -> list[Mark]:
    if way.path in {"ride out", "degrade"}:
        return [_not_needed(name, f"{way.path}: nothing was restarted") for name, _ in _RESTART_NAMES]
    group = way.new
    if group is None:
        return [_missing(name, why) for name, why in _RESTART_NAMES]
    reports = (group.bound, group.complete(group.up), group.complete(group.communicator), group.complete(group.loaded))
    return [_of_report(name, report, why) for (name, why), report in zip(_RESTART_NAMES, reports, strict=True)]


def _of_report(name: str, report: Observation | None, why: str) -> Mark:
    if report is None:
        return _missing(name, why)
    return Mark(name, MarkState.SEEN, report.at, report.error, report.node, report.what, (report.evidence,))


def _caught_up(way: Passage) -> Mark:
    highest = way.highest_before
    if highest is None:
        return _missing("T10", "no step was done before the fault, so there is nothing to catch up with")
    reached = next((step for step in way.after if step.step >= highest), None)
    return _of_step("T10", reached, f"step {highest} was not reached again")


def _full_speed(way: Passage, wanted: FullSpeed) -> Mark:
    usual = way.usual_seconds
    if not usual:
        return _missing("T11", "the pace before the fault is unknown")
    asked = f"{wanted.steps} steps within {wanted.tolerance:.0%} of {usual:.3g} s"
    step = wanted.reached(usual, way.after)
    if step is None:
        return _missing("T11", f"{asked}: not seen in {len(way.after)} steps")
    return Mark("T11", MarkState.SEEN, step.at, step.error, cause=asked, evidence=step.evidence)
