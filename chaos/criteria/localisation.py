"""The named culprit is the node that was struck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.drill_script import wrong_node
from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.drill_findings import DrillFinding, found_over, grade_value, over_drills
from chaos.criteria.ruling import rule
from chaos.criteria.thresholds import ceiling
from chaos.model.history import History
from chaos.model.timeline import MarkState, Timeline
from chaos.model.verdicts import Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Localisation(Criterion):
    """What was seen names the node that was struck, and in time: T3 - T0.

    Only causes name a node (a lost link, a device off the bus, a frozen or killed process); time-outs and closed connections of its
    peers do not. Where several nodes are named, the one with the strongest evidence counts. It is the evidence that a site's own tool
    would have: the criterion grades what the cluster shows, not the eloquence of a tool.
    """

    kind: ClassVar[str] = "localisation"
    title: ClassVar[str] = "The named node is the struck node"
    family: ClassVar[str] = "detection"

    within: Threshold = ceiling(300, "s", "seed figure: from 30 minutes to 5 minutes", sane=(1, 3600))

    def grade(self, history: History) -> Verdict:
        good = f"Each struck node was named within {self.within.value:g} {self.within.unit}, and no other in its place."
        return rule(self, history, self.within, found_over(history, over_drills(history, self._judge), self.within, good))

    def _judge(self, line: Timeline) -> DrillFinding:
        mark = line.marks["T3"]
        if mark.state is MarkState.NOT_NEEDED:
            return DrillFinding(line, Outcome.PASS, mark.cause, evidence=line.evidence)
        since = line.since_fault("T3")
        if since is not None and line.named_node != line.node:
            evidence = (*line.evidence, *mark.evidence)
            return DrillFinding(line, Outcome.FAIL, f"{line.named_node} was named ({mark.cause})", since, mark.error, evidence)
        error = mark.error + line.marks["T0"].error
        what = f"{line.named_node} named ({mark.cause}) after" if since is not None else f"the culprit ({mark.cause})"
        return grade_value(line, since, error, self.within, what)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("job.rank_killed", signs=wrong_node, lost_peers=False)
