"""What is to be done, as values: a dry run prints them, the ledger keeps them, a node's agent performs them.

An act names one thing for a node to do. Its JSON form (:func:`encode`) is the wire format and the form in which an undo lies in
the ledger and in a guard on the node, so undoing needs none of the code that built it. Nothing here is ever passed through a
shell: arguments are lists, file contents are data.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chaos.model.quantities import Duration, seconds

T = TypeVar("T")
Json = Any


@dataclass(frozen=True, slots=True)
class Run:
    """Run a program and wait. ``accepts`` are the exit statuses that count as done."""

    argv: tuple[str, ...]
    stdin: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: Duration = 10 * seconds
    accepts: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        return shlex.join(self.argv)


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Write a whole file atomically (or append to it), making parent folders."""

    path: str
    content: str
    mode: int = 0o644
    append: bool = False

    def __str__(self) -> str:
        return f"{'append to' if self.append else 'write'} {self.path} ({len(self.content)} characters)"


@dataclass(frozen=True, slots=True)
class RemovePath:
    """Remove a file or a folder; absent is done."""

    path: str

    def __str__(self) -> str:
        return f"remove {self.path}"


@dataclass(frozen=True, slots=True)
class CopyFile:
    """Copy a file within the node, keeping mode; replaces the target atomically."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"copy {self.source} to {self.target}"


@dataclass(frozen=True, slots=True)
class TruncateFile:
    """Cut a file to a size in bytes, in place."""

    path: str
    size: int

    def __str__(self) -> str:
        return f"truncate {self.path} to {self.size} bytes"


@dataclass(frozen=True, slots=True)
class SignalProcess:
    """Send a signal to the process with this pid **and** start time (clock ticks after boot, field 22 of /proc/PID/stat).

    A process that is gone, or another one under the same pid, is left alone; ``gone_is_done`` says whether that counts as done.
    """

    pid: int
    started: int
    signal: str
    gone_is_done: bool = True

    def __str__(self) -> str:
        return f"send {self.signal} to process {self.pid} started at tick {self.started}"


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a program in a session of its own under a name; starting a name that runs is done already."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""
    output: str = ""

    def __str__(self) -> str:
        return f"start {self.name}: {shlex.join(self.argv)}"


@dataclass(frozen=True, slots=True)
class StopSpawned:
    """End a spawned program and its process group by name: TERM, then KILL after ``grace``; absent is done."""

    name: str
    grace: Duration = 2 * seconds

    def __str__(self) -> str:
        return f"stop {self.name}"


@dataclass(frozen=True, slots=True)
class Consult:
    """Ask the agent itself, without starting a process. The answer's ``stdout`` is one JSON object.

    Subjects: ``link`` {interface}, ``process`` {pid, started}, ``file`` {path, hash}, ``boot`` {}, ``nvml`` {}, ``spawned`` {name},
    ``cgroup`` {path}, ``ranks`` {job}, ``identity`` {}, ``ssh_peer`` {}.
    """

    subject: str
    arguments: Mapping[str, Json] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"read {self.subject}({given})"


@dataclass(frozen=True, slots=True)
class Power:
    """Act on a node's power through its BMC, from the controller. ``action``: crash, off, on, cycle, cut_cables, join_cables.

    ``state`` changes nothing: as a question it is answered with ``on`` or ``off``.
    """

    action: str

    def __str__(self) -> str:
        return f"power {self.action} (out of band)"


Act = Run | WriteFile | RemovePath | CopyFile | TruncateFile | SignalProcess | Spawn | StopSpawned | Consult | Power

ACT_NAMES: Mapping[type, str] = {
    Run: "run",
    WriteFile: "write",
    RemovePath: "remove",
    CopyFile: "copy",
    TruncateFile: "truncate",
    SignalProcess: "signal",
    Spawn: "spawn",
    StopSpawned: "stop",
    Consult: "consult",
    Power: "power",
}
_BY_NAME = {name: kind for kind, name in ACT_NAMES.items()}


def encode(act: Act) -> dict[str, Json]:
    """The JSON form of an act; durations become seconds, tuples become lists."""
    body = {name: _plain(getattr(act, name)) for name in act.__dataclass_fields__}
    return {"act": ACT_NAMES[type(act)], **body}


def decode(document: Mapping[str, Json]) -> Act:
    """The act that :func:`encode` wrote.

    Raises:
        ValueError: the name of the act or one of its fields is unknown.
    """
    fields = {name: _restore(name, value) for name, value in document.items() if name != "act"}
    try:
        kind: Any = _BY_NAME[document["act"]]
        act: Act = kind(**fields)
    except (KeyError, TypeError) as error:
        message = f"not an act: {dict(document)!r}"
        raise ValueError(message) from error
    return act


def _plain(value: Json) -> Json:
    if isinstance(value, Duration):
        return value.seconds
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _restore(name: str, value: Json) -> Json:
    if name in {"timeout", "grace"}:
        return Duration.of(value)
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Script:
    """Acts in order. ``keep_going``: each act is tried even when an earlier one failed, as an undo must."""

    acts: tuple[Act, ...] = ()
    keep_going: bool = False

    def encode(self) -> dict[str, Json]:
        """The JSON form, as it lies in the ledger and in a guard."""
        return {"acts": [encode(act) for act in self.acts], "keep_going": self.keep_going}

    @classmethod
    def decode(cls, document: Mapping[str, Json]) -> Script:
        """The script that :meth:`encode` wrote."""
        return cls(tuple(decode(act) for act in document["acts"]), bool(document["keep_going"]))

    def __bool__(self) -> bool:
        return bool(self.acts)

    def __add__(self, other: Script) -> Script:
        return Script(self.acts + other.acts, self.keep_going or other.keep_going)


def undo_of(*acts: Act) -> Script:
    """A script in the form that an undo must have: every act is tried, whatever became of the one before."""
    return Script(acts, keep_going=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one act.

    ``exit_status`` is None when there is none: killed by ``signal``, ended by the deadline, or lost. ``error`` holds the words of an
    operating-system error. Only :attr:`is_done` says that the act did what it names.
    """

    exit_status: int | None = 0
    stdout: str = ""
    stderr: str = ""
    signal: str = ""
    timed_out: bool = False
    is_still_running: bool | None = None
    error: str = ""
    took: Duration = Duration(0)
    is_done: bool = True

    @property
    def tail(self) -> str:
        """The last words, for an error message."""
        return (self.error or self.stderr or self.stdout).strip()[-400:]


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """An act that changes nothing, and the pure reader of its answer. A reader that cannot read returns ``Unknown``."""

    asks: Act
    read: Callable[[Answer], T]

    def __str__(self) -> str:
        return str(self.asks)
