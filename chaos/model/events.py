"""The vocabulary of the ledger: every body that an event can have.

The writing side (engine) and the grading side (history, criteria) meet only here. Times named ``at`` are seconds on the controller's
monotonic clock within one ``incarnation`` (the controller's boot id); an :class:`Observed` made on a node has been brought to that
clock with the measured offset, and ``error`` is how far it may be off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from chaos.model.injections import ControlSeen, DrillBegun, DrillEnded, InjectionIntended, InjectionMoved

Json = Any


@dataclass(frozen=True, slots=True)
class Stamp:
    """When an event was written: UTC in ISO 8601, the controller's monotonic clock in seconds, and its boot id."""

    utc: str
    monotonic: float
    incarnation: str


@dataclass(frozen=True, slots=True)
class RunOpened:
    """A run began. The digests fix what may not change until it ends."""

    kind: ClassVar[str] = "run.opened"
    run_id: str
    purpose: str
    plan: Mapping[str, Json]
    plan_digest: str
    inventory_digest: str
    cluster: str
    is_virtual: bool
    nodes: tuple[str, ...]
    spares: tuple[str, ...]
    contracted_slots: int
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunResumed:
    """The harness came back; ``unobserved_from`` (controller clock) to this event's stamp nobody watched."""

    kind: ClassVar[str] = "run.resumed"
    unobserved_from: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunClosed:
    """Nothing more will be written. ``outcome``: finished, interrupted or aborted."""

    kind: ClassVar[str] = "run.closed"
    outcome: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class StepBegun:
    """A step of the plan began; ``title`` is for people."""

    kind: ClassVar[str] = "step.begun"
    step: str
    title: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step of the plan ended as planned; it is not repeated on resume."""

    kind: ClassVar[str] = "step.done"
    step: str


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A step of the plan could not be carried out. This is about us or the site, never a verdict."""

    kind: ClassVar[str] = "step.failed"
    step: str
    error: str
    why: str


@dataclass(frozen=True, slots=True)
class NodeReached:
    """An agent answers on a node; ``facts`` are what it found there (system, python, devices, abilities missing)."""

    kind: ClassVar[str] = "node.reached"
    node: str
    at: float
    boot_id: str
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeLost:
    """The channel to a node broke or was never made. From ``at`` on the node is unobserved, not down."""

    kind: ClassVar[str] = "node.lost"
    node: str
    at: float
    why: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A node that could not be cleaned is not used again in this run."""

    kind: ClassVar[str] = "node.quarantined"
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class ClockMeasured:
    """``node clock = controller clock + offset``, seconds, within ``error``."""

    kind: ClassVar[str] = "clock.measured"
    node: str
    offset: float
    error: float
    boot_id: str


@dataclass(frozen=True, slots=True)
class WorkloadStarted:
    """A load was started. ``recovered_by`` says whose recovery is under test; ``expected_ranks`` is the world size asked for."""

    kind: ClassVar[str] = "workload.started"
    workload: str
    type: str
    launcher: str
    recovered_by: str
    nodes: tuple[str, ...]
    spares: tuple[str, ...]
    expected_ranks: int
    at: float
    parameters: Mapping[str, Json] = field(default_factory=dict)
    checkpoint_every: int | None = None


@dataclass(frozen=True, slots=True)
class WorkloadEnded:
    """A load ended: ``finished`` by itself, ``stopped`` by us, or ``failed``."""

    kind: ClassVar[str] = "workload.ended"
    workload: str
    outcome: str
    at: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """One thing seen on one node: by a watch, by the launcher, or told by a rank. See :mod:`chaos.model.observations`."""

    kind: ClassVar[str] = "observed"
    node: str
    what: str
    at: float
    error: float
    data: Mapping[str, Json]
    workload: str = ""


@dataclass(frozen=True, slots=True)
class Attached:
    """A file of the run folder that is evidence, sealed by its hash. ``series``: rows are JSON forms of :class:`Observed`."""

    kind: ClassVar[str] = "attached"
    name: str
    path: str
    sha256: str
    rows: int
    content: str = "series"
    workload: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A result of a measuring workload, such as an all-reduce sweep: rows of one shape, units in the key names."""

    kind: ClassVar[str] = "measured"
    workload: str
    type: str
    ranks_proven: int
    ranks_expected: int
    nodes: tuple[str, ...]
    rows: tuple[Mapping[str, Json], ...]
    transport: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """A remark for the reader of the record: a refusal, a stop request, a missing ability."""

    kind: ClassVar[str] = "noted"
    subject: str
    text: str


Body = (
    RunOpened
    | RunResumed
    | RunClosed
    | StepBegun
    | StepDone
    | StepFailed
    | NodeReached
    | NodeLost
    | Quarantined
    | ClockMeasured
    | InjectionIntended
    | InjectionMoved
    | ControlSeen
    | WorkloadStarted
    | WorkloadEnded
    | Observed
    | Attached
    | DrillBegun
    | DrillEnded
    | Measured
    | Noted
)

BODIES: Mapping[str, type[Body]] = {body.kind: body for body in Body.__args__}


@dataclass(frozen=True, slots=True)
class Event:
    """One record: numbered, stamped, and sealed with a hash over the record before it."""

    sequence: int
    stamp: Stamp
    body: Body
    previous: str = ""
    seal: str = ""
