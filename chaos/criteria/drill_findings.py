"""What criteria over drills have in common: one finding for each drill, the worst of them decides, none may be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chaos.criteria.ruling import NOTHING, Found, compare
from chaos.model.folding.injections import planned_strikes
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.timeline import MarkState, Timeline
from chaos.model.verdicts import Coverage, Demonstration, Measurement, Outcome, Threshold, worst


@dataclass(frozen=True, slots=True)
class DrillFinding:
    """One drill under one criterion. ``value`` is in the unit of the threshold, within ``error``."""

    timeline: Timeline
    outcome: Outcome
    sentence: str
    value: float | None = None
    error: float = 0.0
    evidence: tuple[int, ...] = ()


Judge = Callable[[Timeline], DrillFinding]


def over_drills(history: History, judge: Judge) -> tuple[DrillFinding, ...]:
    """A finding for each drill. A drill without proof of effect is INVALID whatever followed; one without an end is in doubt."""
    return tuple(_unfit(line) or judge(line) for line in timelines(history))


def _unfit(line: Timeline) -> DrillFinding | None:
    if line.marks["T0"].state is not MarkState.SEEN:
        return DrillFinding(
            line, Outcome.INVALID, f"no proof that {line.fault} took effect on {line.node}", evidence=line.evidence
        )
    if line.outcome not in {"recovered", "missed"}:
        return DrillFinding(line, Outcome.INCONCLUSIVE, f"the drill was {line.outcome}", evidence=line.evidence)
    return None


def expected_drills(history: History) -> Coverage:
    """Drills planned against drills begun; where the plan has none, what was begun counts."""
    begun = [line.drill for line in timelines(history)]
    planned = planned_strikes(history)
    missing = tuple(name for name in planned if name not in begun)
    return Coverage(max(len(planned), len(begun)), len(begun), "drills", missing)


def found_over(
    history: History,
    findings: Iterable[DrillFinding],
    threshold: Threshold,
    good: str,
    *,
    demonstrated: Demonstration | None = None,
    details: tuple[tuple[str, str], ...] = (),
) -> Found:
    """The finding over all drills. ``good`` is the sentence of a pass."""
    all_findings = tuple(findings)
    outcome = worst(finding.outcome for finding in all_findings)
    telling = [finding for finding in all_findings if finding.outcome is outcome]
    sentence = good if outcome is Outcome.PASS else _tell(telling)
    return Found(
        outcome=outcome,
        sentence=sentence,
        coverage=expected_drills(history),
        measured=_extreme(all_findings, threshold),
        evidence=tuple(
            number for finding in (all_findings if outcome is Outcome.PASS else telling) for number in finding.evidence
        ),
        demonstrated=demonstrated,
        details=(*details, *((f"{f.timeline.drill} {f.timeline.fault} on {f.timeline.node}", f.sentence) for f in all_findings)),
    )


def _tell(findings: list[DrillFinding]) -> str:
    if not findings:
        return "No drill was carried out."
    first = findings[0]
    more = f" ({len(findings) - 1} more like it)" if len(findings) > 1 else ""
    return f"{first.timeline.drill}, {first.timeline.fault} on {first.timeline.node}: {first.sentence}{more}."


def _extreme(findings: tuple[DrillFinding, ...], threshold: Threshold) -> Measurement:
    """The worst value of all drills."""
    measured = [finding for finding in findings if finding.value is not None]
    if not measured:
        return NOTHING
    sign = 1 if threshold.relation == "<=" else -1
    chosen = max(measured, key=lambda finding: sign * (finding.value or 0.0))
    value = chosen.value or 0.0
    text = f"worst of {len(measured)}: {value:.4g} {threshold.unit}".rstrip()
    return Measurement(value, value - chosen.error, value + chosen.error, threshold.unit, text)


def grade_value(line: Timeline, value: float | None, error: float, threshold: Threshold, what: str) -> DrillFinding:
    """Compares one drill's value, with its error, with the threshold."""
    if value is None:
        return DrillFinding(line, Outcome.INCONCLUSIVE, f"{what} is not in evidence", evidence=line.evidence)
    outcome = compare(value - error, value + error, threshold)
    return DrillFinding(line, outcome, f"{what} {value:.4g} {threshold.unit}".rstrip(), value, error, line.evidence)
