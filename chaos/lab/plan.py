"""Which nodes a lab has, and how they are addressed. Pure: the same words always give the same lab."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from chaos.errors import UsageError

DEFAULT_NAME = "lab"
STATE = "/run/chaos-lab"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node: its number in the lab, its addresses on both networks, and fixed MACs.

    With random ones a node that was booted again stays unreachable for half a minute behind stale neighbour entries.
    """

    name: str
    role: str
    number: int
    management: str
    training: str
    gpus: int

    def mac(self, network: int) -> str:
        """The hardware address on network 0 (management) or 1 (training)."""
        return f"02:4d:{network:02x}:00:{self.number >> 8:02x}:{self.number & 255:02x}"


@dataclass(frozen=True, slots=True)
class LabPlan:
    """A whole lab. Host-side names all start with :attr:`prefix`, so that leftovers are found by name."""

    name: str
    management: str
    training: str
    nodes: tuple[NodePlan, ...]

    @property
    def prefix(self) -> str:
        """Two letters and a short hash: interface names have at most 15 characters."""
        return "chl" if self.name == DEFAULT_NAME else "ch" + hashlib.sha256(self.name.encode()).hexdigest()[:4]

    @property
    def bridge(self) -> str:
        """The management bridge on the host."""
        return f"{self.prefix}-m"

    @property
    def controller(self) -> str:
        """The host's own address on the management network."""
        return str(IPv4Network(self.management)[1])

    @property
    def state(self) -> str:
        """The folder on the host in which the lab keeps its state."""
        return f"{STATE}/{self.name}"

    def port(self, node: NodePlan) -> str:
        """The host's end of a node's management cable."""
        return f"{self.prefix}m{node.number}"

    def node(self, name: str) -> NodePlan:
        """The node of this name.

        Raises:
            UsageError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise UsageError(f"find node {name}", where=f"lab {self.name}", why=f"it has {', '.join(n.name for n in self.nodes)}")


def plan_lab(
    *,
    name: str = DEFAULT_NAME,
    nodes: int = 4,
    spares: int = 1,
    gpus: int = 2,
    management: str = "10.77.0.0/16",
    training: str = "10.78.0.0/16",
) -> LabPlan:
    """A lab of this size: compute nodes from .0.11 on, spares from .1.1 on, the head at .0.2.

    Raises:
        UsageError: the size or a network cannot be.
    """
    if not (0 < nodes <= 240 and 0 <= spares <= 240 and 0 <= gpus <= 16):
        raise UsageError(
            "plan a lab", why=f"{nodes} nodes, {spares} spares, {gpus} GPUs", todo="1 to 240 nodes, 0 to 240 spares, 0 to 16 GPUs"
        )
    if not name.isidentifier() or len(name) > 32:
        raise UsageError("plan a lab", why=f"{name!r} is no name for one", todo="use letters, digits and _")
    networks = (_network(management), _network(training))
    if networks[0].overlaps(networks[1]):
        raise UsageError("plan a lab", where=f"{management} and {training}", why="they overlap", todo="use two networks")
    places = [("head", "head", 2)]
    places += [(f"node{index}", "compute", 10 + index) for index in range(1, nodes + 1)]
    places += [(f"spare{index}", "spare", 256 + index) for index in range(1, spares + 1)]
    made = (
        NodePlan(node, role, number, str(networks[0][number]), str(networks[1][number]), 0 if role == "head" else gpus)
        for node, role, number in places
    )
    return LabPlan(name, management, training, tuple(made))


def _network(text: str) -> IPv4Network:
    try:
        network = IPv4Network(text)
    except ValueError as error:
        raise UsageError("read a network", where=text, why=str(error), todo="write it like 10.77.0.0/16") from error
    if network.num_addresses < 1024 or not IPv4Address(network[1]).is_private:
        raise UsageError(
            "read a network", where=text, why="it must be private and hold 1024 addresses", todo="write it like 10.77.0.0/16"
        )
    return network
