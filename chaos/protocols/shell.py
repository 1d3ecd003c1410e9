"""A way to nodes: what the engine needs and the transport gives. Tests and dry runs have others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from chaos.errors import ChaosError
from chaos.model.acts import Act, Answer, Question, Script
from chaos.model.guards import ClockReading, Guard, GuardState, Job, JobState, NodeEvent, Watch
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds

T = TypeVar("T")


class Shell(ABC):
    """One node with its agent. Every method raises a :class:`~chaos.errors.SiteError` when the answer did not come."""

    node: Node

    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """What the agent found at its start: boot_id, system, python, devices, version, missing tools."""

    @abstractmethod
    def perform(self, act: Act, *, deadline: Duration = 30 * seconds) -> Answer:
        """One act. The answer tells how it went; only a lost channel or a passed deadline raises."""

    @abstractmethod
    def run(self, script: Script, *, deadline: Duration = 60 * seconds) -> tuple[Answer, ...]:
        """The acts of a script in order, stopping at the first that failed unless the script keeps going."""

    def ask(self, question: Question[T], *, deadline: Duration = 15 * seconds) -> T:
        """The answer to a question, read by its own reader."""
        return question.read(self.perform(question.asks, deadline=deadline))

    @abstractmethod
    def arm(self, guard: Guard) -> GuardState: ...

    @abstractmethod
    def renew(self, guard_id: str, lease: Duration, fence: int) -> GuardState: ...

    @abstractmethod
    def fire(self, guard_id: str) -> GuardState:
        """Let the guard undo now; returns when the undo is done."""

    @abstractmethod
    def disarm(self, guard_id: str) -> GuardState: ...

    @abstractmethod
    def guards(self) -> tuple[GuardState, ...]: ...

    @abstractmethod
    def watch(self, watch: Watch) -> None: ...

    @abstractmethod
    def unwatch(self, name: str) -> None: ...

    @abstractmethod
    def start(self, job: Job) -> JobState: ...

    @abstractmethod
    def job(self, name: str) -> JobState: ...

    @abstractmethod
    def stop(self, name: str, *, grace: Duration = 3 * seconds) -> JobState: ...

    @abstractmethod
    def clock(self) -> ClockReading: ...

    @abstractmethod
    def sweep(self, *, remove: bool) -> tuple[str, ...]:
        """Leftovers of any run on this node, by name; with ``remove`` they are undone and removed, and what could not be is returned."""

    @abstractmethod
    def leave(self) -> None:
        """Stop the agent and remove everything that it brought. Refused by the agent while a guard is armed."""


class Fleet(ABC):
    """Shells to many nodes. No node is ever dropped in silence: what is not a result is an error."""

    @abstractmethod
    def reach(self, nodes: Iterable[Node]) -> Mapping[str, Shell | ChaosError]:
        """Log in and start agents, bounded and in parallel. Nodes that are reached already are returned as they are."""

    @abstractmethod
    def shell(self, name: str) -> Shell:
        """The shell of a node, reconnecting once when the channel was lost.

        Raises:
            SiteError: there is none.
        """

    @abstractmethod
    def ask(
        self, names: Iterable[str], question: Question[T], *, deadline: Duration = 15 * seconds
    ) -> Mapping[str, T | ChaosError]:
        """One question to many nodes at once."""

    @abstractmethod
    def next_event(self, timeout: Duration) -> NodeEvent | None:
        """The next event of any agent, or None. Channel changes come as kinds ``channel.lost`` and ``channel.restored``."""

    @abstractmethod
    def close(self) -> None:
        """Close all channels; agents, guards and jobs stay on their nodes."""
