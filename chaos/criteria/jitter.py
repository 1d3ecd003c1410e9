"""Jitter of all-reduce times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, pstdev
from typing import ClassVar, Literal, Self

from chaos.criteria.canaries.quick_run import quick_run
from chaos.criteria.ruling import Found, compare, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.folding.collectives import Sweep, sweeps
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion

Times = tuple[float, ...]


def _quantile(times: Times, share: float) -> float:
    """Nearest rank, as nccl-tests takes percentiles."""
    ordered = sorted(times)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _worst(times: Times) -> float:
    middle = median(times)
    return max(abs(time - middle) for time in times)


DEFINITIONS: Mapping[str, tuple[str, Callable[[Times], float]]] = {
    "spread": ("p99.9 - p0.1 of the times", lambda times: _quantile(times, 0.999) - _quantile(times, 0.001)),
    "worst": ("largest deviation from the median", _worst),
    "deviation": ("standard deviation of the times", pstdev),
}
"""What jitter can mean, in microseconds over the times of one size. Skew of entry times is the fourth; it needs times by rank."""


@dataclass(frozen=True, slots=True)
class Jitter(Criterion):
    """All-reduce takes the same time again and again.

    "Within 5 µs" is read as the largest deviation from the median (``worst``); the other definitions are printed beside it and never
    mixed. Fewer than ``samples`` iterations cannot pass: 1,000 clean ones bound a rarer outlier only at 0.3 %.
    """

    kind: ClassVar[str] = "jitter"
    title: ClassVar[str] = "All-reduce times are steady"
    family: ClassVar[str] = "performance"

    at_most: Threshold = ceiling(5, "us", "seed figure: jitter within 5 microseconds", sane=(0.1, 1_000_000))
    definition: Literal["spread", "worst", "deviation", "skew"] = "worst"
    size_bytes: int = 0
    samples: int = 1000

    def grade(self, history: History) -> Verdict:
        found = sweeps(history)
        row = found[-1].row(self.size_bytes) if found else None
        times = _times(row) if row else ()
        if not found or not times or self.definition == "skew":
            why = (
                "Entry times by rank are not measured."
                if self.definition == "skew"
                else "No times of single iterations were seen."
            )
            coverage = Coverage(self.samples, 0, "iterations")
            return rule(self, history, self.at_most, Found(Outcome.INCONCLUSIVE, why, coverage))
        return rule(self, history, self.at_most, self._found(found[-1], times))

    def _found(self, sweep: Sweep, times: Times) -> Found:
        words, measure = DEFINITIONS[self.definition]
        value = measure(times)
        coverage = Coverage(self.samples, min(len(times), self.samples), "iterations")
        if sweep.invalid:
            return Found(Outcome.INVALID, f"{sweep.invalid[0]}.", coverage, evidence=(sweep.sequence,))
        outcome = compare(value, value, self.at_most)
        sentence = f"{value:.4g} us ({words}, {len(times)} iterations)."
        details = tuple((name, f"{other(times):.4g} us: {meaning}") for name, (meaning, other) in DEFINITIONS.items())
        return Found(outcome, sentence, coverage, Measurement(value, value, value, "us"), (sweep.sequence,), details=details)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(_at_most(1000.0), samples=50), quick_run(())

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(samples=50), quick_run(())


def _at_most(value: float) -> Threshold:
    return Threshold(value, "us", "<=", "canary", 0.1, 1_000_000.0)


def _times(row: Mapping[str, object]) -> Times:
    values = row.get("times_us")
    if not isinstance(values, list | tuple):
        return ()
    times = tuple(float(value) for value in values if isinstance(value, int | float) and math.isfinite(value))
    return times if len(times) == len(values) else ()
