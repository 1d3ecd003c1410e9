"""Every injection took effect, was seen to, was taken away, and was seen to be gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.ruling import Found, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.events import InjectionState
from chaos.model.folding.injections import Injection, drills, injections, planned_strikes
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class InjectionsProven(Criterion):
    """A drill counts only when its fault was there, and only the fault.

    For each injection: proof of effect from outside the injector, a negative control that was asked elsewhere and said absent, and after
    the undo a look that nothing is left. Without a proof of effect, or with a control that says present where nothing was injected, the
    drills are INVALID; without the other proofs INCONCLUSIVE. An attempt that was repeated counts by its last attempt.
    """

    kind: ClassVar[str] = "injections_proven"
    title: ClassVar[str] = "Every injection is proven and cleared"
    family: ClassVar[str] = "evidence"
    rejects_with: ClassVar[Outcome] = Outcome.INVALID

    at_most: Threshold = ceiling(0, "injections without proof", "no proof of effect, no drill", sane=(0, 0))

    def grade(self, history: History) -> Verdict:
        last = {injection.intended.injection: injection for injection in injections(history)}
        graded = [(name, *_state(injection)) for name, injection in last.items()]
        bad = [(name, outcome, why) for name, outcome, why in graded if outcome is not Outcome.PASS]
        expected = max(len(planned_strikes(history)), len(drills(history)), len(last))
        missing = tuple(name for name in planned_strikes(history) if name not in last)
        invalid = any(outcome is Outcome.INVALID for _, outcome, _ in bad)
        outcome = Outcome.INVALID if invalid else Outcome.INCONCLUSIVE if bad or not last else Outcome.PASS
        found = Found(
            outcome,
            _sentence(bad, len(last)),
            Coverage(expected, len(last), "injections", missing),
            Measurement(len(bad), len(bad), len(bad), self.at_most.unit),
            tuple(number for injection in last.values() for number in injection.evidence),
            details=tuple((name, why) for name, _, why in graded),
        )
        return rule(self, history, self.at_most, found)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("gpu.off_the_bus", has_proof=False)


def _sentence(bad: Sequence[tuple[str, Outcome, str]], number: int) -> str:
    if not number:
        return "Nothing was injected."
    return f"{bad[0][0]}: {bad[0][2]}." if bad else f"All {number} injections took effect, nowhere else, and left nothing behind."


def _state(injection: Injection) -> tuple[Outcome, str]:
    what = f"{injection.intended.fault} on {injection.intended.node}"
    if injection.control is not None and injection.control[1].flagged:
        return Outcome.INVALID, f"{what}: its proof also says present on {injection.control[1].node}, where nothing was injected"
    if injection.took_effect is None:
        return Outcome.INVALID, f"{what}: no proof that it took effect"
    if InjectionState.STUCK in injection.moves:
        return Outcome.INCONCLUSIVE, f"{what}: still there after the undo"
    if InjectionState.CLEARED not in injection.moves:
        return Outcome.INCONCLUSIVE, f"{what}: nobody looked whether it is gone"
    if injection.control is None:
        return Outcome.INCONCLUSIVE, f"{what}: no negative control"
    return Outcome.PASS, f"{what}: {injection.moves[InjectionState.PROVEN][1].proof}; cleared; absent elsewhere"
