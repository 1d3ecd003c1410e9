"""Each gate can fail: every criterion shows that it rejects its known-bad history and accepts its known-good one."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.model.verdicts import CanaryResult, Outcome
from chaos.protocols.criterion import Criterion


def play_canaries(criteria: Mapping[str, type[Criterion]]) -> tuple[CanaryResult, ...]:
    """The results by kind of criterion, in order."""
    return tuple(_play(kind, criterion) for kind, criterion in sorted(criteria.items()))


def _play(kind: str, criterion: type[Criterion]) -> CanaryResult:
    try:
        bad, bad_history = criterion.known_bad()
        good, good_history = criterion.known_good()
        rejected, accepted = bad.grade(bad_history).outcome, good.grade(good_history).outcome
    except Exception as error:  # noqa: BLE001 - whatever a criterion raises, it does not bark
        return CanaryResult(kind, rejects_bad=False, accepts_good=False, why=f"{type(error).__name__}: {error}")
    rejects, accepts = rejected is criterion.rejects_with, accepted is Outcome.PASS
    told = [
        "" if rejects else f"its known-bad history is {rejected}, not {criterion.rejects_with}",
        "" if accepts else f"its known-good history is {accepted}",
    ]
    return CanaryResult(kind, rejects, accepts, "; ".join(filter(None, told)))
