"""A fault, as its author writes it: four short pure methods. The engine owns order, guard, journal and proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

from chaos.model.acts import Question, Script
from chaos.model.nodes import Node, Severity
from chaos.model.quantities import Duration
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, Platform, Snapshot


class Fidelity(StrEnum):
    """``real``: the thing itself. ``emulated``: the effect on the application. ``signal``: only the telemetry moves."""

    REAL = "real"
    EMULATED = "emulated"
    SIGNAL = "signal"


class Expects(StrEnum):
    """What a fit cluster does about the fault.

    ``restart`` processes on the same nodes, ``replace`` the node by a spare, ``ride out`` (stall and go on without a restart),
    ``degrade`` (slower until undone), ``fall back`` to an older checkpoint.
    """

    RESTART = "restart"
    REPLACE = "replace"
    RIDE_OUT = "ride out"
    DEGRADE = "degrade"
    FALL_BACK = "fall back"


@dataclass(frozen=True, slots=True)
class RankProcess:
    """A rank of the running job on this node; ``started`` is its start time in clock ticks after boot."""

    rank: int
    local_rank: int
    pid: int
    started: int


@dataclass(frozen=True, slots=True)
class Target:
    """Where a fault strikes: the node, what its platform offers, the ranks there, and the training addresses of the others."""

    node: Node
    platform: Platform
    ranks: tuple[RankProcess, ...] = ()
    peers: tuple[str, ...] = ()
    checkpoint: str = ""
    injection: str = "injection"

    def rank(self, local_rank: int) -> RankProcess:
        """The rank with this local number.

        Raises:
            LookupError: no job has such a rank on this node.
        """
        for rank in self.ranks:
            if rank.local_rank == local_rank:
                return rank
        message = f"no rank with local number {local_rank} runs on {self.node.name}"
        raise LookupError(message)


class Fault(ABC):
    """One thing that goes wrong. Subclasses are frozen dataclasses whose fields are the parameters (with defaults).

    ``mechanism`` says how it is brought about, ``layer`` which layer it truly exercises. ``is_lasting``: stays until undone; a
    fault that is over by itself (a kill, a flap) leaves nothing to compare. ``takes_ssh``: it may cut the control channel.
    """

    kind: ClassVar[str]
    catalogue_id: ClassVar[str]
    title: ClassVar[str]
    fault_class: ClassVar[str]
    severity: ClassVar[Severity]
    fidelity: ClassVar[Fidelity]
    mechanism: ClassVar[str]
    layer: ClassVar[str]
    needs: ClassVar[tuple[type[Ability], ...]]
    expects: ClassVar[Expects]
    needs_job: ClassVar[bool] = False
    is_lasting: ClassVar[bool] = True
    is_out_of_band: ClassVar[bool] = False

    @abstractmethod
    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        """What the undo restores and the proofs compare with. The snapshot is JSON."""

    @abstractmethod
    def apply(self, target: Target, before: Snapshot) -> Script:
        """What to run."""

    @abstractmethod
    def undo(self, target: Target, before: Snapshot) -> Script:
        """The way back: idempotent, each act on its own, right for a half-applied fault too. Empty when nothing is left to undo."""

    @abstractmethod
    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        """Proof from outside the injector: is the fault there? Asked after the act, after the undo, and on a wrong target."""

    def touches(self, target: Target) -> tuple[str, ...]:
        """The network interfaces of the node that the fault takes: it is refused where the live session uses one of them."""
        del target
        return ()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters by name; durations as text."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: str(value) if isinstance(value, Duration) else value for name, value in values.items()}

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.kind}({given})" if given else self.kind
