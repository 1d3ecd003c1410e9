"""Drills asked for one by one, as a test suite does: what the record shows as done is read, not repeated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chaos.engine.campaign import leave
from chaos.engine.drilling import Drill
from chaos.engine.loads import Load, start_load
from chaos.engine.measuring import measure
from chaos.engine.preflight import preflight
from chaos.engine.reverting import revert_all
from chaos.engine.session import Session
from chaos.model.events import Measured, RunClosed
from chaos.model.history import History
from chaos.model.injections import DrillEnded
from chaos.model.nodes import Cluster, Node
from chaos.model.plans import FaultSpec, Measure, Strike, WorkloadSpec
from chaos.model.quantities import Duration, minutes
from chaos.protocols.fault import Fault


class LiveSession:
    """A site that is ready, and what can be done with it."""

    def __init__(self, session: Session, *, steady_steps: int = 10) -> None:
        self._session = session
        self._steady_steps = steady_steps

    @property
    def cluster(self) -> Cluster:
        """The site."""
        return self._session.cluster

    def history(self) -> History:
        """The record so far."""
        return self._session.history()

    @contextmanager
    def load(self, spec: WorkloadSpec) -> Iterator[Load]:
        """A load that runs while the block does."""
        load = start_load(self._session, spec, fence=self._session.fence)
        try:
            yield load
        finally:
            load.stop()

    def measure(self, spec: WorkloadSpec) -> None:
        """Runs a measuring load to its end, unless the record has its result."""
        if not any(
            isinstance(event.body, Measured) and event.body.workload == spec.name for event in self._session.ledger.events
        ):
            measure(self._session, Measure(spec.name, spec.name, spec), fence=self._session.fence)

    def strike(self, load: Load, fault: Fault, node: Node, *, limit: Duration = 5 * minutes) -> str:
        """Drills one fault; the name under which the history knows it."""
        strike = Strike(f"{node.name}-{fault}", FaultSpec(fault.kind, fault.parameters), node.name, limit)
        if not self._has_ended(strike.id):
            Drill(self._session, load, strike, fault, steady_steps=self._steady_steps).run()
        return strike.id

    def has_struck(self, fault: Fault, node: Node) -> str | None:
        """The name of this drill when the record has it already."""
        name = f"{node.name}-{fault}"
        return name if self._has_ended(name) else None

    def _has_ended(self, drill: str) -> bool:
        bodies = (event.body for event in self._session.ledger.events)
        return any(isinstance(body, DrillEnded) and body.drill == drill and body.outcome != "aborted" for body in bodies)


@contextmanager
def live(session: Session) -> Iterator[LiveSession]:
    """Readies the site, undoes what an earlier start left, and leaves nothing at the end."""
    preflight(session)
    revert_all(session)
    try:
        yield LiveSession(session)
    finally:
        revert_all(session)
        leave(session)
    session.ledger.append(RunClosed("finished"))
