"""A fault stays where it struck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.drill_script import spreading
from chaos.criteria.canaries.quick_run import good_run, with_drill
from chaos.criteria.drill_findings import DrillFinding, found_over, over_drills
from chaos.criteria.ruling import rule
from chaos.criteria.thresholds import ceiling
from chaos.model.folding.watching import unwatched_nodes
from chaos.model.history import History
from chaos.model.nodes import fold
from chaos.model.timeline import Timeline
from chaos.model.verdicts import Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class BlastRadius(Criterion):
    """No other node breaks when one is struck.

    Counted are nodes other than the struck one with a broken part, a closed health gate or a lost channel, or that the job went on
    without. That all ranks of a synchronous job wait for each other is its nature and is printed, not counted. A node that was not
    watched cannot be said to be whole.
    """

    kind: ClassVar[str] = "blast_radius"
    title: ClassVar[str] = "A fault stays on the node it struck"
    family: ClassVar[str] = "recovery"

    at_most: Threshold = ceiling(0, "other nodes", "a fault of one node is a fault of one node", sane=(0, 1000))

    def grade(self, history: History) -> Verdict:
        findings = over_drills(history, lambda line: self._judge(history, line))
        return rule(
            self, history, self.at_most, found_over(history, findings, self.at_most, "No fault spread beyond the node it struck.")
        )

    def _judge(self, history: History, line: Timeline) -> DrillFinding:
        others = [name for name in line.affected_nodes if name != line.node]
        stalled = f"{line.ranks_stalled} ranks waited"
        if len(others) > self.at_most.value:
            sentence = f"{fold(others)} broke as well; {stalled}"
            return DrillFinding(line, Outcome.FAIL, sentence, len(others), 0.0, line.evidence)
        blind = unwatched_nodes(history)
        if blind:
            return DrillFinding(line, Outcome.INCONCLUSIVE, f"{fold(blind)} not watched", evidence=line.evidence)
        return DrillFinding(line, Outcome.PASS, f"no other node; {stalled}", len(others), 0.0, line.evidence)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), good_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), with_drill("nic.link_down", signs=spreading)
