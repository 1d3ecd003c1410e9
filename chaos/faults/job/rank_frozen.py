"""GC02."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.job.struck import rank_before, state_now
from chaos.faults.parameters import within
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script, undo_of
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, ProcessControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class RankFrozen(Fault):
    """A rank of the job stops making progress but stays alive, and its peers wait in a collective.

    Mechanism: SIGSTOP to the rank's process; the undo is SIGCONT, and does nothing once the process is gone. Shows whether a hang
    without an error is noticed at all, by a watchdog or a time-out of a collective, and ended. Does not show a hang inside the device or
    its driver, where the process cannot be killed either. Proof: the kernel shows the process as stopped.
    """

    kind: ClassVar[str] = "job.rank_frozen"
    catalogue_id: ClassVar[str] = "GC02"
    title: ClassVar[str] = "A rank freezes"
    fault_class: ClassVar[str] = "process"
    severity: ClassVar[Severity] = Severity.SAFE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "SIGSTOP to the rank's process"
    layer: ClassVar[str] = "process of the job"
    needs: ClassVar[tuple[type[Ability], ...]] = (ProcessControl,)
    expects: ClassVar[Expects] = Expects.RESTART
    needs_job: ClassVar[bool] = True

    local_rank: int = 0

    def __post_init__(self) -> None:
        within(self, "local_rank", 0, 255)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return rank_before(target, self.local_rank)

    def apply(self, target: Target, before: Snapshot) -> Script:
        return target.platform[ProcessControl].signal(before["pid"], before["started"], "SIGSTOP", must_exist=True)

    def undo(self, target: Target, before: Snapshot) -> Script:
        return undo_of(*target.platform[ProcessControl].signal(before["pid"], before["started"], "SIGCONT").acts)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(state_now(target, before), lambda state: state == "T")
