"""NW08."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.nic.port import port_of
from chaos.faults.parameters import within
from chaos.faults.payload import tag
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, PacketFilter, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class Partition(Fault):
    """One node is cut off from all its peers on the training network, while its port stays up.

    Mechanism: packets from and to the peers are dropped in a netfilter table of our own. Shows whether a silent loss of reachability is
    noticed, which no link state tells. Does not show a partition of RDMA traffic: it passes netfilter by. Proof: our table stands and
    none of the peers that answered an echo before answers now.
    """

    kind: ClassVar[str] = "nic.partition"
    catalogue_id: ClassVar[str] = "NW08"
    title: ClassVar[str] = "A node is cut off from its peers"
    fault_class: ClassVar[str] = "network"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "packets from and to the peers dropped by nftables on the node"
    layer: ClassVar[str] = "IP packets in the kernel; not RDMA"
    needs: ClassVar[tuple[type[Ability], ...]] = (PacketFilter,)
    expects: ClassVar[Expects] = Expects.REPLACE

    port: int = 0

    def __post_init__(self) -> None:
        within(self, "port", 0, 63)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        interface = port_of(target, self.port).name
        peers = tuple(peer for peer in target.peers if peer)

        def judge(seen: Snapshot) -> Snapshot | Unknown:
            answering = _answering(seen["answers"])
            if not answering:
                return Unknown("no peer answers before anything was done: a cut could not be seen", str(seen["answers"]))
            return {"interface": interface, "peers": list(peers), "answering": answering}

        return judged(target.platform[PacketFilter].state(_table(target), peers), judge)

    def apply(self, target: Target, before: Snapshot) -> Script:
        return target.platform[PacketFilter].drop(_table(target), before["peers"], before["interface"])

    def undo(self, target: Target, before: Snapshot) -> Script:
        del before
        return target.platform[PacketFilter].remove(_table(target))

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(target.platform[PacketFilter].state(_table(target), before["answering"]), _judge)

    def touches(self, target: Target) -> tuple[str, ...]:
        return (port_of(target, self.port).name,)


def _judge(seen: Snapshot) -> bool | Unknown:
    """A table that drops nothing is no partition, and silence without a table is not ours."""
    answering = _answering(seen["answers"])
    if seen["table"] and not answering:
        return True
    if not seen["table"] and answering:
        return False
    words = f"our table stands, but {', '.join(answering)} answer" if seen["table"] else "no table of ours, but no peer answers"
    return Unknown(words)


def _answering(answers: Mapping[str, bool]) -> list[str]:
    return sorted(peer for peer, answers_echo in answers.items() if answers_echo)


def _table(target: Target) -> str:
    return f"chaos_{tag(target)}"
