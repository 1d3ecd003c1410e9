"""What a site consists of. A :class:`Cluster` is an inventory as a value; nothing in it holds a connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from ClusterShell.NodeSet import NodeSet


class Severity(IntEnum):
    """How much a fault may cost. ``DISRUPTIVE`` is the default cap; ``DESTRUCTIVE`` needs an opt-in per node and a BMC."""

    SAFE = 1
    DISRUPTIVE = 2
    DESTRUCTIVE = 3

    def __str__(self) -> str:
        return self.name.lower()


class Role(StrEnum):
    """What a node is for. A spare takes the place of a compute node; the head holds the rendezvous and is never a target."""

    COMPUTE = "compute"
    SPARE = "spare"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as the contract names it. ``pci_address`` is canonical: ``0000:5e:00.0``, lower case."""

    index: int
    uuid: str
    pci_address: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface and what it carries; ``rail`` numbers the training ports."""

    name: str
    address: str = ""
    rail: int | None = None


@dataclass(frozen=True, slots=True)
class Domains:
    """What fails together."""

    rack: str = ""
    rail_group: str = ""
    power: str = ""


@dataclass(frozen=True, slots=True)
class Ssh:
    """How to log in. No secret is kept here: keys live in files or in an agent, ``config`` is an OpenSSH client file."""

    user: str = ""
    port: int = 22
    identity_files: tuple[str, ...] = ()
    known_hosts: str = ""
    config: str = ""
    proxy_jump: str = ""


@dataclass(frozen=True, slots=True)
class Bmc:
    """The way to a node's power that does not pass through the node. ``driver`` names a power driver of the catalogue."""

    driver: str
    address: str


@dataclass(frozen=True, slots=True)
class Node:
    """One machine: name, addresses, devices, failure domains, and what may be done to it.

    ``address`` is where SSH goes (IPv4, IPv6 or a name). ``vendor`` is the kind of a vendor in the catalogue.
    ``python`` is the interpreter that starts workloads (with torch); the agent itself uses the node's ``python3``.
    ``properties`` are free key-value pairs that a vendor may read, such as the path of a simulated device.
    """

    name: str
    address: str
    role: Role = Role.COMPUTE
    vendor: str = "linux"
    accelerators: tuple[Accelerator, ...] = ()
    management: Interface | None = None
    training: tuple[Interface, ...] = ()
    domains: Domains = Domains()
    severity_allowed: Severity = Severity.DISRUPTIVE
    ssh: Ssh = Ssh()
    bmc: Bmc | None = None
    python: str = "python3"
    kernel_log: str = "/dev/kmsg"
    shared_storage: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Cluster:
    """All nodes of a site and the contract over them.

    ``contracted_slots`` is how many node places the seller promises to keep in service; by default one for each compute node.
    ``is_virtual`` says that the accelerators are simulated: a report must print it on its face.
    """

    name: str
    nodes: tuple[Node, ...]
    contracted_slots: int
    launcher: str = "elastic"
    description: str = ""
    is_virtual: bool = False
    digest: str = ""

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def where(self, *, role: Role | str | None = None, vendor: str | None = None) -> tuple[Node, ...]:
        """The nodes with this role and vendor, in inventory order."""
        return tuple(n for n in self.nodes if role in (None, n.role) and vendor in (None, n.vendor))

    def __str__(self) -> str:
        return f"{self.name}: {fold(node.name for node in self.nodes)}"


def fold(names: Iterable[str]) -> str:
    """Node names in the field's short form: ``gpu[001-064]``. Names that NodeSet cannot fold are listed plainly."""
    distinct = sorted(set(names))
    try:
        return str(NodeSet.fromlist(distinct))
    except Exception:  # noqa: BLE001 - ClusterShell's parser errors share no public base; a listing loses nothing
        return ",".join(distinct)
