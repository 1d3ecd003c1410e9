"""Everything that should have been seen was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import good_run, quick_run
from chaos.criteria.ruling import Found, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.events import Attached, DrillEnded, Quarantined, RunResumed, StepBegun, StepDone, StepFailed, WorkloadStarted
from chaos.model.folding import watching
from chaos.model.folding.injections import planned_strikes
from chaos.model.folding.soundness import doubts
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class EvidenceCoverage(Criterion):
    """The record holds what the other verdicts stand on.

    Looked for: a whole record; every node reached, its clock measured in every boot and within the limit, its parts watched; no hole in
    a watch, no channel lost for good; every load heard from each of its nodes, with its series; every step and every drill of the plan
    carried out. What is missing is named. Never FAIL: this is about us, not about the cluster.
    """

    kind: ClassVar[str] = "evidence_coverage"
    title: ClassVar[str] = "Nothing that should have been seen is missing"
    family: ClassVar[str] = "evidence"
    rejects_with: ClassVar[Outcome] = Outcome.INCONCLUSIVE

    clock_error: Threshold = ceiling(0.1, "s", "durations between nodes are refused beyond 100 ms", sane=(0.0001, 1))

    def grade(self, history: History) -> Verdict:
        checks = self._checks(history)
        missing = tuple(f"{what}: {name}" for what, names in checks for name in names)
        good = sum(1 for _, names in checks if not names)
        worst = max(watching.clock_errors(history).values(), default=None)
        found = Found(
            Outcome.INCONCLUSIVE if missing else Outcome.PASS,
            f"Missing: {'; '.join(missing[:4])}."
            if missing
            else "Every node, clock, watch, series, step and drill is in evidence.",
            Coverage(len(checks), good, "kinds of evidence", missing),
            Measurement(worst, worst, worst, "s", f"clocks within {worst * 1000:.3g} ms" if worst is not None else ""),
            tuple(event.sequence for event in history.events[:1] + history.events[-1:]),
            details=(*((what, ", ".join(names) or "complete") for what, names in checks), *_unobserved(history)),
        )
        return rule(self, history, self.clock_error, found)

    def _checks(self, history: History) -> list[tuple[str, tuple[str, ...]]]:
        vague = tuple(name for name, error in watching.clock_errors(history).items() if error > self.clock_error.value)
        return [
            ("record", doubts(history)),
            ("nodes never reached", watching.unreached_nodes(history)),
            ("clocks not measured", watching.unmeasured_boots(history)),
            ("clocks known too vaguely", vague),
            ("parts not watched", watching.unwatched_nodes(history)),
            ("holes in watches", watching.watch_gaps(history)),
            ("channels lost for good", watching.lost_for_good(history)),
            ("loads not heard from", watching.silent_workers(history)),
            ("loads without a series", _without_series(history)),
            ("steps not carried out", _steps(history)),
            ("drills not ended", _drills(history)),
            ("nodes quarantined", tuple(body.node for _, body in history.of(Quarantined))),
        ]

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        whole = quick_run()
        cut = History(tuple(event for event in whole.events if getattr(event.body, "node", "") != "node3"), whole.series)
        return cls(), cut


def _without_series(history: History) -> tuple[str, ...]:
    attached = {body.workload for _, body in history.of(Attached) if history.series.get(body.name)}
    loads = dict.fromkeys(b.workload for _, b in history.of(WorkloadStarted) if b.checkpoint_every)
    return tuple(name for name in loads if name not in attached)


def _steps(history: History) -> tuple[str, ...]:
    done = {body.step for _, body in history.of(StepDone)}
    opening = history.opening
    planned = [str(step.get("id", "")) for step in (opening.plan.get("steps", ()) if opening else ())]
    begun = [body.step for _, body in history.of(StepBegun)]
    failed = {body.step: body.why for _, body in history.of(StepFailed)}
    missing = [name for name in dict.fromkeys([*planned, *begun, *failed]) if name not in done]
    return tuple(f"{name} ({failed[name]})" if name in failed else name for name in missing)


def _drills(history: History) -> tuple[str, ...]:
    ended = {body.drill for _, body in history.of(DrillEnded) if body.outcome != "aborted"}
    return tuple(name for name in planned_strikes(history) if name not in ended)


def _unobserved(history: History) -> tuple[tuple[str, str], ...]:
    """What was not seen and hides nothing here: it is told, and weighs where a verdict needs that time."""
    gaps = [(e.body.unobserved_from, e.stamp.monotonic) for e in history.events if isinstance(e.body, RunResumed)]
    away = ", ".join(f"{end - start:.3g} s" for start, end in gaps)
    bridged = watching.bridged_gaps(history)
    told = (("harness away", away), ("watches that answered again", "; ".join(bridged)))
    return tuple((label, text) for label, text in told if text)
