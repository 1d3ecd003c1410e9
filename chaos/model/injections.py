"""What the ledger says about injections and drills. Times named ``at`` are seconds on the controller's monotonic clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

Json = Any


class InjectionState(StrEnum):
    """The life of an injection. The engine owns the order; the last four end it badly."""

    INTENDED = "intended"
    ARMED = "armed"
    APPLIED = "applied"
    PROVEN = "proven"
    UNDONE = "undone"
    CLEARED = "cleared"
    NO_EFFECT = "no-effect"
    INDETERMINATE = "indeterminate"
    STUCK = "stuck"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class InjectionIntended:
    """Written before anything is done: all that is needed to undo the fault without the code that knows it."""

    kind: ClassVar[str] = "injection.intended"
    injection: str
    attempt: int
    fault: str
    catalogue_id: str
    parameters: Mapping[str, Json]
    node: str
    severity: str
    fidelity: str
    mechanism: str
    layer: str
    fault_class: str
    expects: str
    before: Mapping[str, Json]
    undo: Mapping[str, Json]
    guard: str
    lease_seconds: float
    deadline_seconds: float
    workload: str = ""


@dataclass(frozen=True, slots=True)
class InjectionMoved:
    """An injection reached another state. ``at``: when it took effect or was found so; ``proof``: what was seen."""

    kind: ClassVar[str] = "injection.moved"
    injection: str
    attempt: int
    state: InjectionState
    at: float
    error: float = 0.0
    proof: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class ControlSeen:
    """A negative control: the presence question asked where the fault is not. ``flagged`` True means it said present there."""

    kind: ClassVar[str] = "injection.control"
    injection: str
    fault: str
    node: str
    flagged: bool
    answer: str = ""


@dataclass(frozen=True, slots=True)
class DrillBegun:
    """A drill under a running workload starts; steady state was seen for ``steady_steps`` steps."""

    kind: ClassVar[str] = "drill.begun"
    drill: str
    workload: str
    fault: str
    node: str
    at: float
    steady_steps: int
    limit_seconds: float


@dataclass(frozen=True, slots=True)
class DrillEnded:
    """The drill is over at ``at``: ``recovered`` (a new step was seen), ``missed`` (limit passed) or ``aborted``."""

    kind: ClassVar[str] = "drill.ended"
    drill: str
    outcome: str
    at: float
    why: str = ""
