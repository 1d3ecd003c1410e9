"""SF05."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.job.struck import rank_before
from chaos.faults.parameters import within
from chaos.faults.payload import folder, interpreter, program, tag
from chaos.faults.proof import judged
from chaos.model.acts import Question, RemovePath, Script, Spawn, StopSpawned, WriteFile, undo_of
from chaos.model.nodes import Severity
from chaos.model.quantities import Duration, milliseconds
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, ProcessControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class Straggler(Fault):
    """One rank runs slower than its peers, and with it the whole job.

    Mechanism: a program on the node stops the rank for ``share`` of every ``period`` and lets it run for the rest; whatever ends that
    program, the rank is left running. Shows whether a straggler is seen and named, and what it costs. Does not show slow hardware: the
    device's own clocks and counters stay normal. Proof: over a good second the kernel shows the rank stopped in at least half of the
    wanted share of samples, taken by another program than the one that stops it.
    """

    kind: ClassVar[str] = "job.straggler"
    catalogue_id: ClassVar[str] = "SF05"
    title: ClassVar[str] = "A rank becomes a straggler"
    fault_class: ClassVar[str] = "straggler"
    severity: ClassVar[Severity] = Severity.SAFE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "SIGSTOP and SIGCONT in turn to the rank's process"
    layer: ClassVar[str] = "process of the job"
    needs: ClassVar[tuple[type[Ability], ...]] = (ProcessControl,)
    expects: ClassVar[Expects] = Expects.DEGRADE
    needs_job: ClassVar[bool] = True

    local_rank: int = 0
    share: float = 0.5
    period: Duration = 100 * milliseconds

    def __post_init__(self) -> None:
        within(self, "local_rank", 0, 255)
        within(self, "share", 0.1, 0.9)
        within(self, "period", 20 * milliseconds, 400 * milliseconds)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return rank_before(target, self.local_rank)

    def apply(self, target: Target, before: Snapshot) -> Script:
        path = f"{folder(target)}/duty_cycle.py"
        cycle = (str(before["pid"]), str(before["started"]), str(self.share), str(self.period.seconds))
        return Script((WriteFile(path, program("duty_cycle")), Spawn(_name(target), interpreter(path, *cycle))))

    def undo(self, target: Target, before: Snapshot) -> Script:
        wake = target.platform[ProcessControl].signal(before["pid"], before["started"], "SIGCONT")
        return undo_of(StopSpawned(_name(target)), *wake.acts, RemovePath(folder(target)))

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(target.platform[ProcessControl].stopped_share(before["pid"], before["started"]), self._judge)

    def _judge(self, seen: float) -> bool | Unknown:
        if seen >= self.share / 2:
            return True
        return False if seen == 0 else Unknown(f"stopped in {seen:.0%} of samples, wanted {self.share:.0%}")


def _name(target: Target) -> str:
    return f"straggler-{tag(target)}"
