"""The rank that a fault of a job strikes, taken down so that undo and proof need no running job."""

from __future__ import annotations

from chaos.faults.proof import judged
from chaos.model.acts import Question
from chaos.model.unknown import Unknown
from chaos.protocols.ability import ProcessControl, Snapshot
from chaos.protocols.fault import Target

GONE = "gone"


def rank_before(target: Target, local_rank: int) -> Question[Snapshot | Unknown]:
    """The rank's pid, start time and state; Unknown when it is gone already or stopped by somebody else.

    Raises:
        LookupError: no job has such a rank on this node.
    """
    rank = target.rank(local_rank)

    def judge(state: str) -> Snapshot | Unknown:
        if state == GONE or state in "Tt":
            return Unknown(f"rank {rank.rank} (pid {rank.pid}) is {state} before anything was done", state)
        return {"rank": rank.rank, "pid": rank.pid, "started": rank.started, "state": state}

    return judged(target.platform[ProcessControl].state(rank.pid, rank.started), judge)


def state_now(target: Target, before: Snapshot) -> Question[str | Unknown]:
    """The state of the rank that was taken down."""
    return target.platform[ProcessControl].state(before["pid"], before["started"])
