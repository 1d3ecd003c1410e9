"""A load, how its progress is read, and how it is started on many nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chaos.model.acts import WriteFile
from chaos.model.guards import Job
from chaos.model.nodes import Cluster, Node


@dataclass(frozen=True, slots=True)
class Program:
    """What one node runs once the launcher has made a place for it.

    ``argv`` is started once per rank by the launcher; ``entry`` names ``module:function`` for launchers that fork instead. Paths may
    start with ``{home}``. Events are JSON lines appended to the file that the environment variable ``CHAOS_EVENTS`` names.
    """

    argv: tuple[str, ...]
    entry: str
    files: tuple[WriteFile, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of progress, understood; ``what`` and ``data`` as in :mod:`chaos.model.observations`.

    ``at`` is the node's monotonic clock in seconds; None: the line carries no time, and the time of its arrival counts.
    """

    what: str
    at: float | None
    data: Mapping[str, Any]


class Workload(ABC):
    """A load. Subclasses are frozen dataclasses whose fields are the parameters."""

    kind: ClassVar[str]
    title: ClassVar[str]
    measures: ClassVar[bool] = False

    @property
    def checkpoint_every(self) -> int | None:
        """Steps between checkpoints, or None when the load writes none."""
        return None

    @abstractmethod
    def program(self, node: Node, name: str) -> Program:
        """What to run on this node under this workload name."""

    @abstractmethod
    def read(self, line: str) -> Reading | None:
        """The progress in one line of output, or None when the line says nothing about it. Pure."""

    def rows(self, readings: tuple[Reading, ...]) -> tuple[Mapping[str, Any], ...]:
        """What a measuring load measured, out of all its readings."""
        del readings
        return ()


@dataclass(frozen=True, slots=True)
class Launch:
    """Long work by node name, in the order in which it is to be started, and whose recovery is at work."""

    jobs: tuple[tuple[str, Job], ...]
    recovered_by: str
    expected_ranks: int


class Launcher(ABC):
    """How a load is started on many nodes."""

    kind: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def launch(self, workload: Workload, name: str, cluster: Cluster, *, fence: int = 0, with_spares: bool = True) -> Launch:
        """The jobs to start. Pure. ``fence`` tells apart the starts of one workload, so that no old store is met again."""
