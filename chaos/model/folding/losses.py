"""Losses of two runs of the same training, step by step and rank by rank."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chaos.model.folding.steps import progress
from chaos.model.history import History
from chaos.model.observations import Observation


@dataclass(frozen=True, slots=True)
class Comparison:
    """Steps after a resume that both runs did, as equal worlds.

    ``largest`` is the largest relative deviation with its step; ``bitwise``: how many steps are equal to the last bit; ``unreadable``:
    steps whose loss could not be read; ``broken``: steps whose loss is not a finite number in the resumed run only.
    """

    common: int
    bitwise: int
    largest: float
    at_step: int
    unreadable: int
    broken: tuple[int, ...]
    evidence: tuple[int, ...]


def compare_losses(history: History, resumed: str, reference: str) -> Comparison:
    """Compares every step that ``resumed`` did after its first round with the same step of ``reference``."""
    expected = {step.step: _losses(step.reports) for _, _, step in progress(history, reference).steps}
    common = bitwise = unreadable = 0
    worst, at_step = 0.0, 0
    broken: list[int] = []
    evidence: set[int] = set()
    for _, index, step in progress(history, resumed).steps:
        if index == 0 or step.step not in expected:
            continue
        mine, theirs = _losses(step.reports), expected[step.step]
        deviation = _deviation(mine, theirs)
        evidence.update(step.evidence)
        if deviation is None:
            unreadable += 1
            continue
        common += 1
        bitwise += mine == theirs
        if math.isinf(deviation):
            broken.append(step.step)
        if deviation > worst:
            worst, at_step = deviation, step.step
    return Comparison(common, bitwise, worst, at_step, unreadable, tuple(broken), tuple(sorted(evidence)))


def _losses(reports: tuple[Observation, ...]) -> dict[int, float | None]:
    return {int(report.data["rank"]): _number(report.data.get("loss")) for report in reports}


def _number(value: object) -> float | None:
    """A loss is a hexadecimal float, so that no digit is lost on the way."""
    if not isinstance(value, str):
        return None
    try:
        return float.fromhex(value)
    except (ValueError, OverflowError):
        return None


def _deviation(mine: dict[int, float | None], theirs: dict[int, float | None]) -> float | None:
    """The largest relative deviation over ranks; infinite where a loss broke; None where the two cannot be compared."""
    if mine.keys() != theirs.keys():
        return None
    found = 0.0
    for rank, ours in mine.items():
        expected = theirs[rank]
        if ours is None or expected is None or not math.isfinite(expected):
            return None
        if not math.isfinite(ours):
            return math.inf
        found = max(found, abs(ours - expected) / abs(expected) if expected else (0.0 if ours == expected else math.inf))
    return found
