"""Every mark of a recovery, from evidence on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import good_run, never_at_full_speed
from chaos.criteria.drill_findings import DrillFinding, found_over, over_drills
from chaos.criteria.ruling import rule
from chaos.criteria.thresholds import ceiling
from chaos.model.events import DrillBegun
from chaos.model.folding.steps import progress
from chaos.model.history import History
from chaos.model.timeline import Mark, MarkState, Timeline
from chaos.model.verdicts import Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion

_IN_ORDER = ("T0", "T5", "T6", "T7", "T8", "T9", "T10")
_CHAINS = (_IN_ORDER, ("T0", "T2"), ("T0", "T3"), ("T0", "T4", "T9"))


@dataclass(frozen=True, slots=True)
class RecoveryMarks(Criterion):
    """The marks T0..T11 of each recovery are all there, in an order that can be.

    A mark that the kind of recovery does not need counts as there; one that is missing makes the drill INCONCLUSIVE. Marks whose order
    is within their errors do not contradict each other; others make it INVALID: a clock was wrong. A job that ran on for twice the
    steps that full speed asks for and never held its pace has failed.
    """

    kind: ClassVar[str] = "recovery_marks"
    title: ClassVar[str] = "Every mark of each recovery is in evidence"
    family: ClassVar[str] = "recovery"

    clock_error: Threshold = ceiling(0.1, "s", "two marks further apart than 100 ms must be told apart", sane=(0.001, 1))

    def grade(self, history: History) -> Verdict:
        findings = over_drills(history, lambda line: self._judge(history, line))
        good = "All marks from the fault to full speed were seen, on one clock."
        return rule(self, history, self.clock_error, found_over(history, findings, self.clock_error, good))

    def _judge(self, history: History, line: Timeline) -> DrillFinding:
        outcome, sentence = self._state(history, line)
        seen = [mark for mark in line.marks.values() if mark.state is MarkState.SEEN]
        error = max(mark.error for mark in seen if mark.name != "T0") if len(seen) > 1 else None
        return DrillFinding(line, outcome, sentence, error, 0.0, line.evidence + tuple(n for mark in seen for n in mark.evidence))

    def _state(self, history: History, line: Timeline) -> tuple[Outcome, str]:
        if line.outcome == "missed":
            return Outcome.INCONCLUSIVE, "the job did not recover within the limit, so its later marks do not exist"
        missing = [mark for mark in line.marks.values() if mark.state is MarkState.MISSING]
        if [mark.name for mark in missing] == ["T11"] and _had_its_chance(history, line):
            return Outcome.FAIL, f"it never came back to full speed ({line.marks['T11'].cause})"
        if missing:
            return Outcome.INCONCLUSIVE, "; ".join(f"{mark.name} is missing: {mark.cause}" for mark in missing)
        wrong = _contradiction(line)
        if wrong:
            return Outcome.INVALID, f"{wrong}: a clock was wrong"
        vague = [mark for name, mark in line.marks.items() if name != "T0" and mark.error > self.clock_error.value]
        if vague:
            return Outcome.INCONCLUSIVE, f"{vague[0].name} is only known within {vague[0].error:g} s"
        return Outcome.PASS, _tell(line)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), never_at_full_speed()


def _had_its_chance(history: History, line: Timeline) -> bool:
    first = line.marks["T9"].at
    workload = next((begun.workload for _, begun in history.of(DrillBegun) if begun.drill == line.drill), "")
    after = [step for at, _, step in progress(history, workload).steps if first is not None and at >= first]
    return len(after) >= 2 * line.full_speed_steps


def _contradiction(line: Timeline) -> str:
    for chain in _CHAINS:
        seen = [line.marks[name] for name in chain if line.marks[name].state is MarkState.SEEN]
        for first, second in pairwise(seen):
            if _is_before(second, first):
                return f"{second.name} is before {first.name} by more than their errors"
    return ""


def _is_before(first: Mark, second: Mark) -> bool:
    return first.at is not None and second.at is not None and first.at + first.error < second.at - second.error


def _tell(line: Timeline) -> str:
    parts = [f"{name} {since:+.2f}" for name in line.marks if (since := line.since_fault(name)) is not None]
    spared = [name for name, mark in line.marks.items() if mark.state is MarkState.NOT_NEEDED]
    return f"{', '.join(parts)} s" + (f"; not needed: {', '.join(spared)}" if spared else "")
