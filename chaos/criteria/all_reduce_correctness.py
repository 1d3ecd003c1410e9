"""All-reduce gives the right sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import quick_run
from chaos.criteria.ruling import Found, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.folding.collectives import Sweep, sweeps
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class AllReduceCorrectness(Criterion):
    """Every element of every all-reduce is exact, with all ranks taking part.

    Integers are summed, so there is no tolerance. A result of one rank, or of fewer ranks than asked for, is INVALID: it says nothing
    about the cluster. No result, or a size without one, is INCONCLUSIVE.
    """

    kind: ClassVar[str] = "all_reduce_correctness"
    title: ClassVar[str] = "All-reduce sums are exact"
    family: ClassVar[str] = "correctness"

    at_most: Threshold = ceiling(0, "wrong elements", "sums of integers are exact", sane=(0, 0))

    def grade(self, history: History) -> Verdict:
        found = sweeps(history)
        if not found:
            return rule(self, history, self.at_most, _nothing())
        flaws = [flaw for sweep in found for flaw in sweep.invalid]
        evidence = tuple(sweep.sequence for sweep in found)
        coverage = _coverage(found)
        wrong = _wrong(found)
        if flaws:
            return rule(self, history, self.at_most, Found(Outcome.INVALID, f"{flaws[0]}.", coverage, evidence=evidence))
        if wrong is None or not any(sweep.rows for sweep in found):
            sentence = "The all-reduce gave no result, or one that does not say how many elements were wrong."
            return rule(self, history, self.at_most, Found(Outcome.INCONCLUSIVE, sentence, coverage, evidence=evidence))
        ranks, sizes = found[0].measured.ranks_expected, sum(len(sweep.rows) for sweep in found)
        outcome = Outcome.PASS if wrong <= self.at_most.value else Outcome.FAIL
        sentence = f"{wrong} wrong elements over {sizes} sizes on {ranks} ranks."
        measured = Measurement(wrong, wrong, wrong, self.at_most.unit)
        return rule(self, history, self.at_most, Found(outcome, sentence, coverage, measured, evidence))

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), quick_run(())

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), quick_run((), wrong=1)


def _nothing() -> Found:
    return Found(Outcome.INCONCLUSIVE, "No all-reduce was measured.", Coverage(1, 0, "all-reduce sweeps"))


def _coverage(found: tuple[Sweep, ...]) -> Coverage:
    missing = tuple(name for sweep in found for name in sweep.missing)
    return Coverage(sum(sweep.sizes for sweep in found), sum(len(sweep.rows) for sweep in found), "sizes", missing)


def _wrong(found: tuple[Sweep, ...]) -> int | None:
    """All wrong elements, or None when a row does not say how many there are."""
    counts = [row.get("wrong") for sweep in found for row in sweep.rows]
    known = [count for count in counts if isinstance(count, int) and count >= 0]
    return sum(known) if len(known) == len(counts) else None
