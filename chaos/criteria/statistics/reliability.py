"""Times between failures: what exposure and a number of failures demonstrate at a confidence.

Exponential times between failures, test ended by time (IEC 60605-4): lower bound ``2T / chi2(C; 2r + 2)``.
"""

from __future__ import annotations

import math


def _chi2(probability: float, degrees: float) -> float:
    from scipy.special import gammaincinv  # noqa: PLC0415 - SciPy takes time that most commands need not pay

    return 2 * float(gammaincinv(degrees / 2, probability))


def mtbf_lower(exposure: float, failures: int, confidence: float) -> float:
    """The mean time between failures that is demonstrated one-sidedly, in the unit of the exposure."""
    return 2 * exposure / _chi2(confidence, 2 * failures + 2)


def mtbf_upper(exposure: float, failures: int, confidence: float) -> float:
    """The one-sided upper bound; infinite without a failure."""
    return math.inf if failures == 0 else 2 * exposure / _chi2(1 - confidence, 2 * failures)


def needed_exposure(mtbf: float, failures: int, confidence: float) -> float:
    """The exposure that demonstrates a mean time between failures when so many failures happen in it."""
    return mtbf * _chi2(confidence, 2 * failures + 2) / 2


def clean_run_probability(duration: float, mtbf: float) -> float:
    """How likely a run of this duration sees no failure."""
    return math.exp(-duration / mtbf)


def laplace_trend(times: tuple[float, ...], end: float) -> tuple[float, float]:
    """Laplace's test of a constant rate: the statistic U and its two-sided p-value. Positive U: failures come faster."""
    from scipy.special import ndtr  # noqa: PLC0415

    number = len(times)
    u = (sum(times) / number - end / 2) / (end * math.sqrt(1 / (12 * number)))
    return u, 2 * float(ndtr(-abs(u)))


def slot_availability_lower(slot_days: float, outages: int, restore_seconds: float, confidence: float) -> float:
    """The availability of slots that is demonstrated: Poisson outages of at most ``restore_seconds`` each over ``slot_days``.

    Assumes independent outages: a rack that goes down is one event that hits several slots, to be counted as one here.
    """
    return 1 - _chi2(confidence, 2 * outages + 2) / (2 * slot_days) * restore_seconds / 86_400


def needed_slot_days(availability: float, outages: int, restore_seconds: float, confidence: float) -> float:
    """The slot-days that demonstrate an availability when so many outages happen in them."""
    return _chi2(confidence, 2 * outages + 2) / 2 * restore_seconds / 86_400 / (1 - availability)


def most_outages(availability: float, slot_days: float, restore_seconds: float, confidence: float) -> int | None:
    """The most slot outages with which the availability is still demonstrated, or None when not even a clean run does it."""
    if slot_availability_lower(slot_days, 0, restore_seconds, confidence) < availability:
        return None
    allowed = 0
    while slot_availability_lower(slot_days, allowed + 1, restore_seconds, confidence) >= availability:
        allowed += 1
    return allowed


def unit_availability_lower(up_hours: float, down_hours: float, outages: int, confidence: float) -> float:
    """The availability of one unit with exponential up and down times, from its totals and number of outages."""
    from scipy.special import fdtri  # noqa: PLC0415

    return 1 / (1 + down_hours / up_hours * float(fdtri(2 * outages, 2 * outages, confidence)))
