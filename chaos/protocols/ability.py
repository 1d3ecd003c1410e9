"""What a platform can offer. A fault *needs* abilities, a vendor *offers* them: N + M files instead of N x M.

Every method returns a script or a question and does nothing by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from chaos.errors import Unsupported
from chaos.model.acts import Question, Script
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown

A = TypeVar("A", bound="Ability")
Snapshot = Mapping[str, Any]


class Ability(ABC):
    """Something that a node's platform can do."""


class LinkControl(Ability):
    """Network interfaces can be read, taken down and put back as they were (addresses, routes, MTU, state)."""

    @abstractmethod
    def state(self, interface: str) -> Question[Snapshot | Unknown]: ...

    @abstractmethod
    def overview(self) -> Question[tuple[Snapshot, ...] | Unknown]:
        """Every interface with ``interface``, ``is_up`` and ``has_carrier``."""

    @abstractmethod
    def down(self, interface: str) -> Script: ...

    @abstractmethod
    def restore(self, interface: str, before: Snapshot) -> Script: ...


class PacketFilter(Ability):
    """Packets to and from peers can be dropped in a table of our own."""

    @abstractmethod
    def drop(self, table: str, peers: Iterable[str], interface: str) -> Script: ...

    @abstractmethod
    def remove(self, table: str) -> Script: ...

    @abstractmethod
    def state(self, table: str, peers: Iterable[str]) -> Question[Snapshot | Unknown]:
        """``table``: whether it stands. ``answers``: for each peer whether it answers an echo, which no table can pretend."""


class ProcessControl(Ability):
    """Processes can be signalled by pid and start time, and their state read."""

    @abstractmethod
    def signal(self, pid: int, started: int, signal: str, *, must_exist: bool = False) -> Script:
        """``must_exist``: a process that is gone is a failure, as it is for a fault; for an undo it is done."""

    @abstractmethod
    def state(self, pid: int, started: int) -> Question[str | Unknown]:
        """The letter that the kernel gives (R, S, D, T, ...), or ``gone``."""

    @abstractmethod
    def stopped_share(self, pid: int, started: int) -> Question[float | Unknown]:
        """The share of samples over about a second in which the process was stopped; 0 for one that is gone."""


class MemoryLimit(Ability):
    """A process can be put under a memory limit of its own cgroup (v1 or v2) and taken out again."""

    @abstractmethod
    def state(self, pid: int, started: int) -> Question[Snapshot | Unknown]:
        """Which cgroup version the node has and where the process is: everything else is chosen by it."""

    @abstractmethod
    def limit(self, name: str, before: Snapshot, limit_bytes: int) -> Script:
        """The process is put under the limit, and the limit is reached."""

    @abstractmethod
    def remove(self, name: str, before: Snapshot) -> Script: ...

    @abstractmethod
    def kills(self, name: str, before: Snapshot) -> Question[Snapshot | Unknown]:
        """``exists``: whether the cgroup stands. ``kills``: how many processes the kernel killed in it. ``members``: pids in it."""


class KernelLog(Ability):
    """A line can be added to the kernel log the node's monitoring reads, marked as injected."""

    @abstractmethod
    def write(self, text: str, priority: int = 3) -> Script: ...

    @abstractmethod
    def contains(self, text: str) -> Question[bool | Unknown]: ...


class AcceleratorSignals(Ability):
    """Device counters and states, as the vendor's management library shows them, can be set and put back.

    Every vendor has the fields ``lost`` (0 or 1), ``ecc_corrected`` and ``ecc_uncorrected``.
    """

    @abstractmethod
    def state(self, index: int) -> Question[Snapshot | Unknown]: ...

    @abstractmethod
    def change(self, index: int, values: Mapping[str, int]) -> Script: ...

    @abstractmethod
    def restore(self, index: int, before: Snapshot) -> Script: ...


class AcceleratorHealth(Ability):
    """Devices can be listed and their health read.

    A row has ``index`` and ``lost``; a device that is not lost also ``uuid``, ``ecc_corrected`` and ``ecc_uncorrected``, each None
    where the vendor's library gives no value.
    """

    @abstractmethod
    def devices(self) -> Question[tuple[Snapshot, ...] | Unknown]: ...


class FileControl(Ability):
    """Files can be changed with a backup of ours beside them, and put back by hash."""

    @abstractmethod
    def state(self, path: str) -> Question[Snapshot | Unknown]: ...

    @abstractmethod
    def truncate(self, path: str, size: int, backup: str) -> Script: ...

    @abstractmethod
    def restore(self, path: str, backup: str, damaged_size: int) -> Script:
        """Puts the backup back where the damaged file still lies, and only drops it where the file was written anew since."""


class PowerControl(Ability):
    """The node's power can be cut and given through its BMC, without the node."""

    @abstractmethod
    def state(self) -> Question[str | Unknown]:
        """``on`` or ``off``, as the BMC says."""

    @abstractmethod
    def crash(self) -> Script: ...

    @abstractmethod
    def on(self) -> Script: ...


class Platform:
    """What one node's platform offers: abilities by their abstract class. A frozen value; ``platform[LinkControl]`` finds one."""

    __slots__ = ("_offers", "node")

    def __init__(self, node: Node, offers: Iterable[Ability]) -> None:
        self.node = node
        self._offers = tuple(offers)

    def offers(self, ability: type[Ability]) -> bool:
        """Whether the platform has this ability."""
        return any(isinstance(offer, ability) for offer in self._offers)

    def lacks(self, needs: Iterable[type[Ability]]) -> tuple[str, ...]:
        """The names of the needed abilities that are missing."""
        return tuple(need.__name__ for need in needs if not self.offers(need))

    def __getitem__(self, ability: type[A]) -> A:
        for offer in self._offers:
            if isinstance(offer, ability):
                return offer
        raise Unsupported(
            f"use {ability.__name__}",
            ability=ability.__name__,
            where=self.node.name,
            todo="choose another node or fault: `chaos faults list --node` shows what fits",
        )
