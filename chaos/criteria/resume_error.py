"""A resumed training computes what an uninterrupted one computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run
from chaos.criteria.ruling import Found, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.folding.losses import Comparison, compare_losses
from chaos.model.history import History
from chaos.model.injections import DrillBegun
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class ResumeError(Criterion):
    """Losses after a resume equal those of an uninterrupted run at the same steps.

    Measured is the largest relative deviation over all steps done after a restart and all ranks. Fewer than ``steps`` common steps
    decide nothing. A loss that is no finite number any more fails. Steps of a world of another size cannot be compared.
    """

    kind: ClassVar[str] = "resume_error"
    title: ClassVar[str] = "A resumed training computes the same"
    family: ClassVar[str] = "correctness"

    at_most: Threshold = ceiling(
        1e-5, "relative deviation of the loss", "seed figure: resume error below 0.001 %", sane=(0, 0.01)
    )
    steps: int = 100
    reference: str = "reference"

    def grade(self, history: History) -> Verdict:
        drilled = tuple(dict.fromkeys(body.workload for _, body in history.of(DrillBegun)))
        compared = [compare_losses(history, name, self.reference) for name in drilled]
        common = sum(one.common for one in compared)
        coverage = Coverage(self.steps, min(common, self.steps), f"steps common with {self.reference} after a resume")
        if not compared or common == 0:
            sentence = f"No step after a resume can be compared with {self.reference}."
            return rule(self, history, self.at_most, Found(Outcome.INCONCLUSIVE, sentence, coverage))
        return rule(self, history, self.at_most, self._found(compared, coverage))

    def _found(self, compared: list[Comparison], coverage: Coverage) -> Found:
        worst = max(compared, key=lambda one: one.largest)
        common, bitwise = sum(one.common for one in compared), sum(one.bitwise for one in compared)
        outcome, sentence = self._outcome(worst, common, bitwise, sum(one.unreadable for one in compared))
        text = "bit for bit" if bitwise == common else f"{worst.largest:.3g} at step {worst.at_step}"
        return Found(
            outcome,
            sentence,
            coverage,
            Measurement(worst.largest, worst.largest, worst.largest, self.at_most.unit, text),
            tuple(number for one in compared for number in one.evidence),
            details=(("common steps", str(common)), ("equal bit for bit", str(bitwise))),
        )

    def _outcome(self, worst: Comparison, common: int, bitwise: int, unreadable: int) -> tuple[Outcome, str]:
        if worst.broken:
            return Outcome.FAIL, f"The loss is no finite number from step {worst.broken[0]} on."
        if worst.largest > self.at_most.value:
            return Outcome.FAIL, f"The loss deviates by {worst.largest:.3g} at step {worst.at_step}."
        if unreadable:
            return Outcome.INCONCLUSIVE, f"{unreadable} steps could not be compared: unreadable losses or another world size."
        if common < self.steps:
            return Outcome.INCONCLUSIVE, f"Only {common} common steps after a resume; {self.steps} are needed."
        equal = "all of them bit for bit" if bitwise == common else f"{bitwise} of them bit for bit"
        return Outcome.PASS, f"{common} steps after resumes equal the uninterrupted run, {equal}."

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(steps=20), quick_run(GOOD_DRILLS[:2])

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(steps=20), quick_run(GOOD_DRILLS[:2], loss_error=2e-5)
