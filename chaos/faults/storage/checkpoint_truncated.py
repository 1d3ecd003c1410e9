"""ST11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.parameters import within
from chaos.faults.payload import tag
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, FileControl, ProcessControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class CheckpointTruncated(Fault):
    """The newest checkpoint is cut short after it was committed, and then the job has to load it.

    Mechanism: the file is copied beside itself and cut to ``keep`` of its size; with ``and_kill`` a rank is killed next, because a damaged
    checkpoint bites only when it is loaded. The undo puts the copy back where the damaged file still lies and leaves alone what the job
    has written since. Shows whether a damaged checkpoint is recognised and an older one taken. Does not show damage that keeps the size
    (see the catalogue, ST12) nor a checkpoint of many files. Proof: the file has the cut size and another hash than before.
    """

    kind: ClassVar[str] = "storage.checkpoint_truncated"
    catalogue_id: ClassVar[str] = "ST11"
    title: ClassVar[str] = "The newest checkpoint is truncated"
    fault_class: ClassVar[str] = "storage"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "truncate on the file, with a copy beside it, and SIGKILL to a rank"
    layer: ClassVar[str] = "file of the job"
    needs: ClassVar[tuple[type[Ability], ...]] = (FileControl, ProcessControl)
    expects: ClassVar[Expects] = Expects.FALL_BACK
    needs_job: ClassVar[bool] = True

    keep: float = 0.5
    and_kill: bool = True
    local_rank: int = 0

    def __post_init__(self) -> None:
        within(self, "keep", 0.0, 0.99)
        within(self, "local_rank", 0, 255)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        rank = target.rank(self.local_rank)

        def judge(seen: Snapshot) -> Snapshot | Unknown:
            if not target.checkpoint or not seen["exists"] or seen["size"] < 2:
                return Unknown("there is no checkpoint to damage", target.checkpoint)
            return {
                **seen,
                "path": target.checkpoint,
                "cut_to": self._cut(seen["size"]),
                "pid": rank.pid,
                "started": rank.started,
            }

        return judged(target.platform[FileControl].state(target.checkpoint), judge)

    def _cut(self, size: int) -> int:
        return min(int(size * self.keep), size - 1)

    def apply(self, target: Target, before: Snapshot) -> Script:
        cut = target.platform[FileControl].truncate(before["path"], before["cut_to"], _backup(target, before))
        if not self.and_kill:
            return cut
        return cut + target.platform[ProcessControl].signal(before["pid"], before["started"], "SIGKILL", must_exist=True)

    def undo(self, target: Target, before: Snapshot) -> Script:
        return target.platform[FileControl].restore(before["path"], _backup(target, before), before["cut_to"])

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        def judge(seen: Snapshot) -> bool:
            return bool(seen["exists"] and seen["size"] == before["cut_to"] and seen["sha256"] != before["sha256"])

        return judged(target.platform[FileControl].state(before["path"]), judge)


def _backup(target: Target, before: Snapshot) -> str:
    return f"{before['path']}.{tag(target)}.chaos-backup"
