"""The training port that a network fault strikes."""

from __future__ import annotations

from chaos.errors import Unsupported
from chaos.faults.proof import judged
from chaos.model.acts import Question
from chaos.model.nodes import Interface
from chaos.model.unknown import Unknown
from chaos.protocols.ability import LinkControl, Snapshot
from chaos.protocols.fault import Target


def port_of(target: Target, number: int) -> Interface:
    """The training port with this number.

    Raises:
        Unsupported: the inventory names no such port of the node.
    """
    ports = target.node.training
    if number >= len(ports):
        raise Unsupported(
            f"find training port {number}",
            ability="that port",
            where=target.node.name,
            why=f"the inventory names {len(ports)} training ports",
            todo="name another port, or add it to the inventory",
        )
    return ports[number]


def link_before(target: Target, number: int) -> Question[Snapshot | Unknown]:
    """The port as it is. Unknown when it does not work already, or when its address was not seen and so could not be put back."""
    port = port_of(target, number)

    def judge(seen: Snapshot) -> Snapshot | Unknown:
        if not is_working(seen):
            return Unknown(f"{port.name} is down before anything was done", str(seen["operstate"]))
        if port.address and port.address not in {address.partition("/")[0] for address in seen["addresses"]}:
            return Unknown(f"{port.name} does not show its address {port.address}", str(seen["addresses"]))
        return seen

    return judged(target.platform[LinkControl].state(port.name), judge)


def is_working(seen: Snapshot) -> bool | Unknown:
    """Whether an interface is up and has its carrier."""
    if not seen["is_up"]:
        return False
    carrier = seen.get("carrier")
    return carrier == 1 if carrier in {0, 1} else Unknown("the carrier cannot be read")
