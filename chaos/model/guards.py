"""The undo that waits on the node, and long work there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chaos.model.acts import Script, WriteFile
from chaos.model.quantities import Duration, seconds


@dataclass(frozen=True, slots=True)
class Guard:
    """An undo armed on a node before the act.

    It runs when the controller has not renewed for ``lease``, and at the latest after ``deadline``, both on the node's monotonic clock.
    ``fence`` numbers the controller: a node refuses a lower number than it has seen.
    """

    id: str
    undo: Script
    lease: Duration = 15 * seconds
    deadline: Duration = 600 * seconds
    fence: int = 0


@dataclass(frozen=True, slots=True)
class GuardState:
    """What became of a guard: ``armed``, ``fired`` (the node undid it), ``disarmed`` or ``dead`` (no process holds it).

    ``failures`` are the words of undo acts that did not succeed. ``pid`` and ``started`` identify the process that waits.
    """

    id: str
    state: str
    pid: int = 0
    started: int = 0
    why: str = ""
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """Long work on a node, in a session of its own: it outlives the SSH session and is found and stopped by ``name``.

    ``files`` are written first; paths may start with ``{home}``, the agent's folder for this run. Each line that the program appends
    to ``events`` (JSON) is streamed to the controller as an event of kind ``job.line``.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""
    files: tuple[WriteFile, ...] = ()
    events: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """Whether long work runs; ``exit_status`` is None while it does or when nobody knows."""

    name: str
    is_running: bool
    pid: int = 0
    exit_status: int | None = None
    output_tail: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """Something a node's agent looks at by itself and reports when it changes.

    Kinds: ``kernel_log`` {path}, ``link`` {interface}, ``nvml`` {}, ``processes`` {job}, ``lines`` {path}, ``cgroup`` {path}.
    """

    name: str
    kind: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    period: Duration = 0.2 * seconds


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """Something that an agent saw. ``at`` is the node's own monotonic clock in seconds; ``sequence`` has no gaps per node and boot."""

    node: str
    sequence: int
    at: float
    kind: str
    body: Mapping[str, object]
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A node's monotonic clock against the controller's: ``node = controller + offset``, both in seconds, within ``error``."""

    node: str
    offset: float
    error: float
    boot_id: str
