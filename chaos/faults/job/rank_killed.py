"""GC01."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.job.struck import GONE, rank_before, state_now
from chaos.faults.parameters import within
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, ProcessControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class RankKilled(Fault):
    """A rank of the job dies at once, as by the kernel's OOM killer or a crash of its runtime.

    Mechanism: SIGKILL to the rank's process, found by pid and start time. Shows whether the death of one process is noticed, whether
    the others are ended and restarted, and from which checkpoint they go on. Does not show what happens when a process stays and only
    stops making progress: see ``job.rank_frozen``. Proof: the kernel no longer knows that process.
    """

    kind: ClassVar[str] = "job.rank_killed"
    catalogue_id: ClassVar[str] = "GC01"
    title: ClassVar[str] = "A rank is killed"
    fault_class: ClassVar[str] = "process"
    severity: ClassVar[Severity] = Severity.SAFE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "SIGKILL to the rank's process"
    layer: ClassVar[str] = "process of the job"
    needs: ClassVar[tuple[type[Ability], ...]] = (ProcessControl,)
    expects: ClassVar[Expects] = Expects.RESTART
    needs_job: ClassVar[bool] = True
    is_lasting: ClassVar[bool] = False

    local_rank: int = 0

    def __post_init__(self) -> None:
        within(self, "local_rank", 0, 255)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return rank_before(target, self.local_rank)

    def apply(self, target: Target, before: Snapshot) -> Script:
        return target.platform[ProcessControl].signal(before["pid"], before["started"], "SIGKILL", must_exist=True)

    def undo(self, target: Target, before: Snapshot) -> Script:
        del target, before
        return Script((), keep_going=True)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(state_now(target, before), lambda state: state == GONE)
