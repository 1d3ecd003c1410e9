"""What is refused before anything is touched."""

from __future__ import annotations

from chaos.engine.power import Performer
from chaos.errors import ChaosError, NotPermitted
from chaos.model.nodes import Node, Role, Severity
from chaos.protocols.fault import Expects, Fault, Target


def check_permission(fault: Fault, node: Node) -> None:
    """Refuses what the inventory does not allow.

    Raises:
        NotPermitted: the head, or a severity above the node's cap.
    """
    if node.role is Role.HEAD:
        raise NotPermitted(
            f"inject {fault}", where=node.name, why="the head holds the rendezvous of every job", todo="choose a compute node"
        )
    if fault.severity > node.severity_allowed:
        raise NotPermitted(
            f"inject {fault}",
            where=node.name,
            why=f"the fault is {fault.severity}, the inventory allows up to {node.severity_allowed}",
            todo=f"set severity_allowed: {fault.severity} for this node if its owner agrees",
        )


def check_power_path(fault: Fault, node: Node, performer: Performer) -> None:
    """A destructive fault needs a BMC that answers now.

    Raises:
        NotPermitted: there is none, or it does not answer.
    """
    if fault.severity < Severity.DESTRUCTIVE and not fault.is_out_of_band:
        return
    try:
        is_on = performer.driver(node).is_on(node)
    except ChaosError as error:
        raise NotPermitted(
            f"inject {fault}", where=node.name, why=f"its BMC does not answer: {error}", todo="mend the out-of-band path first"
        ) from error
    if not is_on:
        raise NotPermitted(f"inject {fault}", where=node.name, why="the BMC says that the node is off", todo="power it on first")


def check_control_path(fault: Fault, target: Target, ssh_interface: str) -> None:
    """A fault may not take the interface that the live session uses.

    Raises:
        NotPermitted: it would cut the way by which it has to be undone.
    """
    touched = fault.touches(target)
    if touched and not ssh_interface:
        raise NotPermitted(
            f"inject {fault}",
            where=target.node.name,
            why=f"it touches {', '.join(touched)}, and the interface of the live session could not be found",
            todo="look at `ip route get` on the node; the session's interface must be known",
        )
    if ssh_interface in touched:
        raise NotPermitted(
            f"inject {fault}",
            where=target.node.name,
            why=f"{ssh_interface} carries the control session",
            todo="log in by another interface, or name another port",
        )


def check_replacement(fault: Fault, node: Node, spares: tuple[str, ...]) -> None:
    """Never the last replica: a fault that takes a node away needs a spare that stands ready.

    Raises:
        NotPermitted: no spare stands ready.
    """
    if fault.expects is Expects.REPLACE and not [spare for spare in spares if spare != node.name]:
        raise NotPermitted(
            f"inject {fault}",
            where=node.name,
            why="the job would lose this node and no spare stands ready",
            todo="wait until a spare has joined, or add one to the inventory",
        )
