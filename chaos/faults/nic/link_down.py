"""NW01."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.nic.port import is_working, link_before, port_of
from chaos.faults.parameters import within
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, LinkControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class LinkDown(Fault):
    """A training port of one node goes down and stays down until it is put back.

    Mechanism: ``ip link set down``; addresses, routes and MTU are taken down in a snapshot before and put back one by one. Shows whether
    the loss of a port is noticed and the node is left out. Does not show a broken cable or switch port: the peer's side is taken down
    cleanly, and InfiniBand ports without an IP interface are not reached. Proof: the kernel shows the port down or without carrier.
    """

    kind: ClassVar[str] = "nic.link_down"
    catalogue_id: ClassVar[str] = "NW01"
    title: ClassVar[str] = "A training port goes down"
    fault_class: ClassVar[str] = "network"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "ip link set down on the node"
    layer: ClassVar[str] = "network interface"
    needs: ClassVar[tuple[type[Ability], ...]] = (LinkControl,)
    expects: ClassVar[Expects] = Expects.REPLACE

    port: int = 0

    def __post_init__(self) -> None:
        within(self, "port", 0, 63)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return link_before(target, self.port)

    def apply(self, target: Target, before: Snapshot) -> Script:
        return target.platform[LinkControl].down(before["interface"])

    def undo(self, target: Target, before: Snapshot) -> Script:
        return target.platform[LinkControl].restore(before["interface"], before)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return judged(target.platform[LinkControl].state(before["interface"]), _is_down)

    def touches(self, target: Target) -> tuple[str, ...]:
        return (port_of(target, self.port).name,)


def _is_down(seen: Snapshot) -> bool | Unknown:
    works = is_working(seen)
    return works if isinstance(works, Unknown) else not works
