"""One task that runs for the promised time."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, Self

from chaos.criteria.canaries.long_run import long_run
from chaos.criteria.ruling import Found, rule
from chaos.criteria.statistics.reliability import clean_run_probability, mtbf_lower, needed_exposure
from chaos.criteria.thresholds import floor
from chaos.model.folding.interruptions import Task, tasks
from chaos.model.history import History
from chaos.model.quantities import Percentage
from chaos.model.verdicts import Coverage, Demonstration, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class ContinuousRun(Criterion):
    """One logical task keeps running for the promised time.

    *strict*: nothing interrupted it. *resilient*: every interruption was recovered from without a human and without starting anew. Both
    readings are graded and printed; ``reading`` says which one decides. An interruption by a drill is no failure of nature, but a run
    with drills is no undisturbed run either: it cannot pass the strict reading. A clean run of T demonstrates far less than a mean time
    between failures of T.
    """

    kind: ClassVar[str] = "continuous_run"
    title: ClassVar[str] = "One task runs without failure for the promised time"
    family: ClassVar[str] = "continuity"

    for_at_least: Threshold = floor(720, "h", "seed figure: 720 hours", sane=(0.01, 100_000))
    reading: Literal["strict", "resilient"] = "resilient"
    confidence: Percentage = Percentage(Decimal(90))

    def grade(self, history: History) -> Verdict:
        found = tasks(history)
        if not found:
            nothing = Found(Outcome.INCONCLUSIVE, "No training task did a step.", Coverage(1, 0, "training tasks"))
            return rule(self, history, self.for_at_least, nothing)
        task = found[0]
        strict, resilient = self._strict(task), self._resilient(task)
        outcome, sentence = strict if self.reading == "strict" else resilient
        told = Found(
            outcome,
            sentence,
            Coverage(1, 1, "training tasks"),
            Measurement(
                task.hours, task.hours - task.unobserved / 3600, task.hours, "h", f"{task.hours:.4g} h of {task.workload}"
            ),
            task.evidence,
            self._demonstrate(task),
            (
                ("strict reading", f"{strict[0]}: {strict[1]}"),
                ("resilient reading", f"{resilient[0]}: {resilient[1]}"),
                ("reading that decides", self.reading),
                ("interruptions", f"{len(task.natural)} natural, {task.injected} injected"),
            ),
        )
        return rule(self, history, self.for_at_least, told)

    def _strict(self, task: Task) -> tuple[Outcome, str]:
        if task.natural or task.unrecovered:
            return Outcome.FAIL, f"{task.workload} was interrupted: {len(task.natural)} times by nature{_also(task)}"
        if task.injected:
            return Outcome.INCONCLUSIVE, f"drills interrupted {task.workload} {task.injected} times: it is no undisturbed run"
        return self._long_enough(task, "without an interruption")

    def _resilient(self, task: Task) -> tuple[Outcome, str]:
        if task.unrecovered:
            return Outcome.FAIL, f"{task.workload} did not recover: {'; '.join(task.unrecovered)}"
        return self._long_enough(task, f"and recovered from each of {len(task.natural) + task.injected} interruptions")

    def _long_enough(self, task: Task, how: str) -> tuple[Outcome, str]:
        wanted = f"{self.for_at_least.value:g} {self.for_at_least.unit}"
        if task.unobserved > 0:
            return Outcome.INCONCLUSIVE, f"nobody watched for {task.unobserved:.4g} s of it"
        if task.hours < self.for_at_least.value:
            return Outcome.INCONCLUSIVE, f"{task.workload} ran {task.hours:.4g} h of {wanted} {how}"
        return Outcome.PASS, f"{task.workload} ran {task.hours:.4g} h {how}"

    def _demonstrate(self, task: Task) -> Demonstration | None:
        if task.hours <= 0:
            return None
        confidence, failures = float(self.confidence.fraction), len(task.natural)
        bound = mtbf_lower(task.hours, failures, confidence)
        need = needed_exposure(self.for_at_least.value, failures, confidence)
        text = f"{task.hours:.4g} h with {failures} natural interruptions show a mean time between them of at least {bound:.4g} h"
        chance = clean_run_probability(self.for_at_least.value, self.for_at_least.value)
        more = (
            f"{need - task.hours:.5g} more hours without an interruption show {self.for_at_least.value:g} h at {self.confidence} "
            f"(a cluster that truly has it stays clean for that long in {chance:.1%} of all runs)"
            if need > task.hours
            else ""
        )
        return Demonstration(confidence, bound, "h between natural interruptions", text, more)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(reading="strict"), long_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(reading="strict"), long_run(outage_after=300, outage=120.0)


def _also(task: Task) -> str:
    return f"; {'; '.join(task.unrecovered)}" if task.unrecovered else ""
