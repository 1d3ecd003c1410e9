"""Work lost by a recovery, against the checkpoint interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.drill_findings import DrillFinding, found_over, over_drills
from chaos.criteria.ruling import compare, rule
from chaos.criteria.thresholds import ceiling
from chaos.model.events import DrillBegun
from chaos.model.history import History
from chaos.model.timeline import Timeline
from chaos.model.verdicts import Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class LostWork(Criterion):
    """A recovery repeats no more steps than lie between two checkpoints.

    Measured is the highest step that all ranks had done minus the step that was restored, in checkpoint intervals. A fault that
    destroys the newest checkpoint is expected to cost one interval more.
    """

    kind: ClassVar[str] = "lost_work"
    title: ClassVar[str] = "No more work is lost than one checkpoint interval"
    family: ClassVar[str] = "recovery"

    at_most: Threshold = ceiling(1, "checkpoint intervals", "what a checkpoint every k steps promises", sane=(0.1, 100))

    def grade(self, history: History) -> Verdict:
        findings = over_drills(history, lambda line: self._judge(history, line))
        good = f"No recovery lost more than {self.at_most.value:g} {self.at_most.unit} (one more where the newest was destroyed)."
        return rule(self, history, self.at_most, found_over(history, findings, self.at_most, good))

    def _judge(self, history: History, line: Timeline) -> DrillFinding:
        interval = _interval(history, line)
        if interval is None:
            return DrillFinding(
                line, Outcome.INCONCLUSIVE, "the load writes no checkpoints that it tells of", evidence=line.evidence
            )
        if line.lost_steps is None:
            return DrillFinding(line, Outcome.INCONCLUSIVE, "the restored step is not in evidence", evidence=line.evidence)
        excused = 1 if line.expects == "fall back" else 0
        lost = line.lost_steps / interval
        outcome = compare(lost - excused, lost - excused, self.at_most)
        restored = f", restored {line.restored_step}" if line.restored_step is not None else ", nothing restored"
        sentence = f"{line.lost_steps} steps lost of {interval} between checkpoints{restored}"
        return DrillFinding(line, outcome, sentence, max(0.0, lost - excused), 0.0, line.evidence)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("job.rank_killed", restores=0)


def _interval(history: History, line: Timeline) -> int | None:
    name = next((begun.workload for _, begun in history.of(DrillBegun) if begun.drill == line.drill), "")
    load = history.workload(name)
    return load.checkpoint_every or None if load else None
