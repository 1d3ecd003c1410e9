"""From what a criterion found to its verdict. Here, and only here, doubt about the record takes a pass away."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.model.folding.soundness import doubts
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Demonstration, Measurement, Outcome, Strength, Threshold, Verdict
from chaos.protocols.criterion import Criterion

NOTHING = Measurement(None, None, None, "")


@dataclass(frozen=True, slots=True)
class Found:
    """What a criterion found, before the soundness of the record is looked at."""

    outcome: Outcome
    sentence: str
    coverage: Coverage
    measured: Measurement = NOTHING
    evidence: tuple[int, ...] = ()
    demonstrated: Demonstration | None = None
    details: tuple[tuple[str, str], ...] = ()
    strength: Strength = Strength.OBSERVED


def rule(criterion: Criterion, history: History, threshold: Threshold | None, found: Found) -> Verdict:
    """The verdict. A pass over a record that is not whole, or over less than was expected, is INCONCLUSIVE."""
    outcome, sentence = found.outcome, found.sentence
    lacking = [*doubts(history), *([] if found.coverage.is_complete else [_lack(found.coverage)])]
    if outcome is Outcome.PASS and lacking:
        outcome = Outcome.INCONCLUSIVE
        sentence = f"{'; '.join(lacking[:3])}: what is there would pass, but evidence is missing."
    return Verdict(
        criterion=criterion.kind,
        title=criterion.title,
        outcome=outcome,
        measured=found.measured,
        threshold=threshold,
        strength=found.strength,
        coverage=found.coverage,
        sentence=sentence,
        evidence=tuple(sorted(set(found.evidence))),
        demonstrated=found.demonstrated,
        details=found.details,
        family=criterion.family,
    )


def _lack(coverage: Coverage) -> str:
    names = f" (missing: {', '.join(coverage.missing[:5])})" if coverage.missing else ""
    return f"{coverage} seen{names}"


def compare(low: float | None, high: float | None, threshold: Threshold) -> Outcome:
    """PASS when the whole interval meets the threshold, FAIL when none of it does, INCONCLUSIVE between and without a value."""
    if low is None or high is None:
        return Outcome.INCONCLUSIVE
    if threshold.relation == "<=":
        low, high = -high, -low
        value = -threshold.value
    else:
        value = threshold.value
    if low >= value:
        return Outcome.PASS
    return Outcome.FAIL if high < value else Outcome.INCONCLUSIVE
