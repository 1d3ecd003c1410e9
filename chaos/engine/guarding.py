"""The undo that waits without us: on the node for what an agent can undo, in the BMC for power."""

from __future__ import annotations

from abc import ABC, abstractmethod

from chaos.engine.power import Performer
from chaos.errors import SiteError
from chaos.model.guards import Guard, GuardState
from chaos.model.nodes import Node
from chaos.model.quantities import Duration


class ArmedUndo(ABC):
    """An armed undo, and its lease. ``state`` is asked from outside: the first of the three proofs."""

    def __init__(self, performer: Performer, node: Node, guard: Guard) -> None:
        self.performer = performer
        self.node = node
        self.guard = guard
        self.renewed_at = 0.0

    @abstractmethod
    def arm(self) -> None: ...

    @abstractmethod
    def state(self) -> GuardState | None:
        """The guard as its holder sees it, or None when the holder knows of none."""

    @abstractmethod
    def renew(self) -> None: ...

    @abstractmethod
    def fire(self) -> GuardState:
        """Undo now."""

    @abstractmethod
    def disarm(self) -> None: ...


class NodeUndo(ArmedUndo):
    """Held by a process of its own on the node."""

    def arm(self) -> None:
        self.performer.fleet.shell(self.node.name).arm(self.guard)

    def state(self) -> GuardState | None:
        states = self.performer.fleet.shell(self.node.name).guards()
        return next((state for state in states if state.id == self.guard.id), None)

    def renew(self) -> None:
        self.performer.fleet.shell(self.node.name).renew(self.guard.id, self.guard.lease, self.guard.fence)

    def fire(self) -> GuardState:
        return self.performer.fleet.shell(self.node.name).fire(self.guard.id)

    def disarm(self) -> None:
        self.performer.fleet.shell(self.node.name).disarm(self.guard.id)


class PowerUndo(ArmedUndo):
    """Held by the BMC: a node without power cannot undo anything itself."""

    def __init__(self, performer: Performer, node: Node, guard: Guard) -> None:
        super().__init__(performer, node, guard)
        self._state = "unarmed"

    def arm(self) -> None:
        self.performer.driver(self.node).arm_power_on(self.node, _longer(self.guard.lease))
        self._state = "armed"

    def state(self) -> GuardState | None:
        return GuardState(self.guard.id, self._state)

    def renew(self) -> None:
        self.performer.driver(self.node).arm_power_on(self.node, _longer(self.guard.lease))

    def fire(self) -> GuardState:
        answers = self.performer.run(self.node, self.guard.undo)
        failures = tuple(answer.tail for answer in answers if not answer.is_done)
        self._state = "fired"
        return GuardState(self.guard.id, self._state, failures=failures)

    def disarm(self) -> None:
        self.performer.driver(self.node).disarm_power_on(self.node)


def _longer(lease: Duration) -> Duration:
    """A BMC gives power back late rather than early: a node that comes up too soon would end the drill."""
    return 2 * lease


class Leases:
    """The guards that are armed now. Renewed from the loop, so that a loop that no longer turns lets them fire."""

    def __init__(self) -> None:
        self._held: dict[str, ArmedUndo] = {}

    def hold(self, armed: ArmedUndo, now: float) -> None:
        """Begins to renew."""
        armed.renewed_at = now
        self._held[armed.guard.id] = armed

    def release(self, guard_id: str) -> None:
        """Ends renewing."""
        self._held.pop(guard_id, None)

    @property
    def held(self) -> tuple[ArmedUndo, ...]:
        """All that are renewed."""
        return tuple(self._held.values())

    def renew_due(self, now: float) -> None:
        """Renews what has used up a third of its lease. A node that does not answer keeps its guard, which then fires: as it should."""
        for armed in self.held:
            if now - armed.renewed_at < armed.guard.lease.seconds / 3:
                continue
            armed.renewed_at = now
            try:
                armed.renew()
            except SiteError:
                continue
