"""Shares of successes: what a number of drills demonstrates.

Exact binomial bounds (Clopper-Pearson) and success-run plans. A drill that did not recover is a miss, never an exclusion.
"""

from __future__ import annotations

import math


def success_lower(successes: int, trials: int, confidence: float) -> float:
    """The share of successes that is demonstrated one-sidedly."""
    from scipy.special import betaincinv  # noqa: PLC0415 - SciPy takes time that most commands need not pay

    if trials == 0 or successes == 0:
        return 0.0
    return float(betaincinv(successes, trials - successes + 1, 1 - confidence))


def success_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval."""
    from scipy.special import betaincinv  # noqa: PLC0415

    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high


def needed_trials(share: float, confidence: float, misses: int = 0) -> int:
    """The fewest trials that demonstrate a share of successes when so many of them miss."""
    if misses == 0:
        return math.ceil(math.log(1 - confidence) / math.log(share) - 1e-12)
    from scipy.special import bdtr  # noqa: PLC0415

    trials = misses + 1
    while float(bdtr(misses, trials, 1 - share)) > 1 - confidence:
        trials += 1
    return trials


def percentile_rank(trials: int, share: float, confidence: float) -> int | None:
    """Which of the sorted values (1 is the lowest) bounds a percentile from above, or None when there are too few.

    Makes no assumption on the distribution: the k-th value is above the ``share`` quantile with this confidence.
    """
    from scipy.special import bdtr  # noqa: PLC0415

    return next((k for k in range(1, trials + 1) if float(bdtr(k - 1, trials, share)) >= confidence), None)


def percentile_upper(values: tuple[float, ...], share: float, confidence: float) -> float | None:
    """The upper bound of a percentile at a confidence, by order statistics, or None when there are too few values."""
    rank = percentile_rank(len(values), share, confidence)
    return None if rank is None else sorted(values)[rank - 1]


def median_interval(values: tuple[float, ...], lower_rank: int) -> tuple[float, float, float]:
    """The interval between the k-th lowest and the k-th highest value, and the confidence that the median lies in it."""
    from scipy.special import bdtr  # noqa: PLC0415

    ordered, number = sorted(values), len(values)
    confidence = 1 - 2 * float(bdtr(lower_rank - 1, number, 0.5))
    return ordered[lower_rank - 1], ordered[number - lower_rank], confidence
