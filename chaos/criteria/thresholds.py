"""Threshold fields of criteria: unit and relation are fixed by the criterion, the value and its source come from a profile."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

from chaos.model.verdicts import Threshold

POSSIBLE = "possible"
"""The key in a field's metadata under which the range stands that a measurement can have at all."""


def ceiling(
    value: float, unit: str, source: str, *, sane: tuple[float, float], possible: tuple[float, float] = (0, math.inf)
) -> Any:
    """A field: what is measured must not be above this."""
    return _limit(Threshold(float(value), unit, "<=", source, *sane), possible)


def floor(
    value: float, unit: str, source: str, *, sane: tuple[float, float], possible: tuple[float, float] = (0, math.inf)
) -> Any:
    """A field: what is measured must not be below this."""
    return _limit(Threshold(float(value), unit, ">=", source, *sane), possible)


def no_limit(unit: str, relation: str, *, possible: tuple[float, float] = (0, math.inf)) -> Any:
    """A field without a threshold of its own: the criterion only informs until a profile sets one."""
    return field(default=None, metadata={POSSIBLE: possible, "unit": unit, "relation": relation})


def _limit(threshold: Threshold, possible: tuple[float, float]) -> Any:
    return field(default=threshold, metadata={POSSIBLE: possible, "unit": threshold.unit, "relation": threshold.relation})


def flaw(threshold: Threshold, possible: tuple[float, float]) -> str:
    """Why a threshold cannot decide anything, or nothing when it can."""
    low, high = possible
    if not threshold.source.strip():
        return "it has no source"
    if not threshold.lowest <= threshold.value <= threshold.highest:
        return f"{threshold.value:g} {threshold.unit} is outside of its sane range {threshold.lowest:g} to {threshold.highest:g}"
    if threshold.relation == "<=":
        cannot_pass, cannot_fail = threshold.value < low, threshold.value >= high
    else:
        cannot_pass, cannot_fail = threshold.value > high, threshold.value <= low
    if cannot_pass:
        return f"nothing can pass {threshold}"
    return f"nothing can fail {threshold}" if cannot_fail else ""
