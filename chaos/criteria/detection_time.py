"""Time to the first alarm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.drill_script import late_alarm
from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.drill_findings import DrillFinding, found_over, grade_value, over_drills
from chaos.criteria.ruling import rule
from chaos.criteria.thresholds import ceiling
from chaos.model.history import History
from chaos.model.timeline import MarkState, Timeline
from chaos.model.verdicts import Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class DetectionTime(Criterion):
    """Something says that something is wrong, soon after a fault: T2 - T0, on any node and from any source.

    Time-outs alone decide it for hangs: the defaults of the field are 10 minutes (NCCL), 30 minutes (HCCL) and 45 minutes and more
    (launcher heartbeats). A fault that the job did not feel needs no detection.
    """

    kind: ClassVar[str] = "detection_time"
    title: ClassVar[str] = "Faults are noticed in time"
    family: ClassVar[str] = "detection"

    within: Threshold = ceiling(
        30, "s", "seed figure: detection within seconds; tuned systems report 10 to 30 s", sane=(0.1, 3600)
    )

    def grade(self, history: History) -> Verdict:
        good = f"Every fault was noticed within {self.within.value:g} {self.within.unit}."
        return rule(self, history, self.within, found_over(history, over_drills(history, self._judge), self.within, good))

    def _judge(self, line: Timeline) -> DrillFinding:
        mark = line.marks["T2"]
        if mark.state is MarkState.NOT_NEEDED:
            return DrillFinding(line, Outcome.PASS, mark.cause, evidence=line.evidence)
        error = mark.error + line.marks["T0"].error
        since = line.since_fault("T2")
        what = f"{mark.cause} on {mark.node} after" if since is not None else mark.cause
        return grade_value(line, since, error, self.within, what)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("job.rank_frozen", signs=late_alarm, lost_peers=False, stall=50.0)
