"""Recovery within a limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.drill_findings import DrillFinding, found_over, grade_value, over_drills
from chaos.criteria.ruling import rule
from chaos.criteria.statistics.proportions import needed_trials, success_lower
from chaos.criteria.thresholds import ceiling
from chaos.model.history import History
from chaos.model.quantities import Percentage
from chaos.model.timeline import MarkState, Timeline
from chaos.model.verdicts import Demonstration, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Recovery(Criterion):
    """Training makes progress again soon enough after a fault.

    Measured is T9 - T0: the fault takes effect, the first new step is done by all ranks (for a degradation: undo to full speed). A
    drill that never recovers, or that does not get past the step it had reached, is a miss and not an exclusion. Clean drills
    *demonstrate* a share of recoveries only at a confidence (Clopper-Pearson): ``share`` at ``confidence`` needs so many of them, for
    every class of fault again.
    """

    kind: ClassVar[str] = "recovery"
    title: ClassVar[str] = "Training recovers within the limit"
    family: ClassVar[str] = "recovery"

    within: Threshold = ceiling(300, "s", "seed figure: recovery within 5 minutes", sane=(1, 3600))
    share: Percentage = Percentage(Decimal(95))
    confidence: Percentage = Percentage(Decimal(90))

    def grade(self, history: History) -> Verdict:
        findings = over_drills(history, self._judge)
        good = f"Every drill was training again within {self.within.value:g} {self.within.unit} of its fault."
        found = found_over(
            history, findings, self.within, good, demonstrated=self._demonstrate(findings), details=self._classes(findings)
        )
        return rule(self, history, self.within, found)

    def _judge(self, line: Timeline) -> DrillFinding:
        took = line.recovery_seconds
        if line.outcome == "missed" and (took is None or took > self.within.value):
            return DrillFinding(line, Outcome.FAIL, "never made progress again within the limit", evidence=line.evidence)
        if line.outcome == "missed":
            why = "the drill was booked as missed, but its steps show a recovery"
            return DrillFinding(line, Outcome.INCONCLUSIVE, why, evidence=line.evidence)
        finding = grade_value(line, took, line.recovery_error, self.within, f"{line.path}, recovered in")
        if finding.outcome is Outcome.PASS and line.marks["T10"].state is not MarkState.SEEN:
            return DrillFinding(
                line, Outcome.INCONCLUSIVE, "it never got past the step it had reached before", evidence=line.evidence
            )
        return finding

    def _demonstrate(self, findings: Iterable[DrillFinding]) -> Demonstration | None:
        good, tried = _count(findings)
        if not tried:
            return None
        share, confidence = float(self.share.fraction), float(self.confidence.fraction)
        bound = success_lower(good, tried, confidence)
        text = f"{good} of {tried} drills recovered: at least {bound:.1%} do, at {self.confidence} confidence"
        lacking = max(0, needed_trials(share, confidence, tried - good) - tried)
        more = f"{lacking} more drills without a miss show {self.share}" if bound < share else ""
        return Demonstration(confidence, bound, "share of recoveries", text, more)

    def _classes(self, findings: tuple[DrillFinding, ...]) -> tuple[tuple[str, str], ...]:
        classes: dict[str, list[DrillFinding]] = {}
        for finding in findings:
            classes.setdefault(finding.timeline.fault_class or "unknown", []).append(finding)
        told = [(f"class {name}", self._of_class(members)) for name, members in classes.items()]
        return (*told, ("mixture of all classes", self._of_class(list(findings)))) if findings else ()

    def _of_class(self, findings: list[DrillFinding]) -> str:
        good, tried = _count(findings)
        times = [finding.value for finding in findings if finding.value is not None]
        seen = f", median {median(times):.3g} s, slowest {max(times):.3g} s" if times else ""
        bound = success_lower(good, tried, float(self.confidence.fraction))
        return f"{good} of {tried} recovered{seen}; demonstrated {bound:.1%} at {self.confidence}"

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("nic.link_down", recovers=False)


def _count(findings: Iterable[DrillFinding]) -> tuple[int, int]:
    """Recoveries, and drills that count as trials: those that took effect and were carried to an end."""
    tried = [finding for finding in findings if finding.outcome in {Outcome.PASS, Outcome.FAIL}]
    return sum(1 for finding in tried if finding.outcome is Outcome.PASS), len(tried)
