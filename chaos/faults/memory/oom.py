"""HO05."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.parameters import within
from chaos.faults.payload import tag
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, MemoryLimit, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class OutOfMemory(Fault):
    """The kernel kills a rank because its memory limit is reached.

    Mechanism: the rank is moved into a cgroup of our own with a small limit, and a small program of ours beside it uses the limit up, so
    that the kernel kills the largest process there: the rank, whose memory must exceed the ten megabytes of that program. Shows whether
    a death by the OOM killer is told from other deaths and survived. Does not show a node that is short of memory as a whole, where the
    kernel may choose any process. Proof: the cgroup's own count of kills, and the rank is not in it any more.
    """

    kind: ClassVar[str] = "memory.oom"
    catalogue_id: ClassVar[str] = "HO05"
    title: ClassVar[str] = "A rank is killed for memory"
    fault_class: ClassVar[str] = "memory"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "memory limit of a cgroup of our own around the rank's process"
    layer: ClassVar[str] = "memory cgroup of one process"
    needs: ClassVar[tuple[type[Ability], ...]] = (MemoryLimit,)
    expects: ClassVar[Expects] = Expects.RESTART
    needs_job: ClassVar[bool] = True

    local_rank: int = 0
    limit_kib: int = 256

    def __post_init__(self) -> None:
        within(self, "local_rank", 0, 255)
        within(self, "limit_kib", 64, 1 << 20)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        rank = target.rank(self.local_rank)
        return target.platform[MemoryLimit].state(rank.pid, rank.started)

    def apply(self, target: Target, before: Snapshot) -> Script:
        return target.platform[MemoryLimit].limit(tag(target), before, self.limit_kib * 1024)

    def undo(self, target: Target, before: Snapshot) -> Script:
        return target.platform[MemoryLimit].remove(tag(target), before)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(target.platform[MemoryLimit].kills(tag(target), before), lambda seen: _judge(seen, before["pid"]))


def _judge(seen: Snapshot, pid: int) -> bool | Unknown:
    if not seen["exists"]:
        return False
    if seen["kills"] > 0 and pid not in seen["members"]:
        return True
    return Unknown(f"the limit stands; killed under it: {seen['kills']}, process {pid} still there: {pid in seen['members']}")
