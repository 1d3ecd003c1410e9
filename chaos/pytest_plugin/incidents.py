"""What a drill test holds: a job that runs, strikes against it, and the incident that each strike was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from chaos.errors import Inconclusive, PlanError
from chaos.model.folding.one_drill import only_drill
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.injections import DrillEnded
from chaos.model.nodes import Node
from chaos.model.plans import Plan, WorkloadSpec
from chaos.model.quantities import Duration, minutes
from chaos.model.timeline import Timeline
from chaos.model.verdicts import Verdict
from chaos.protocols.criterion import Criterion
from chaos.protocols.fault import Fault
from chaos.pytest_plugin.asked import Asked
from chaos.pytest_plugin.opening import opened
from chaos.pytest_plugin.outcomes import must

if TYPE_CHECKING:
    from chaos.engine.live import LiveSession
    from chaos.engine.loads import Load


@dataclass(frozen=True, slots=True)
class Incident:
    """One drill as the record tells it. ``on_verdict`` hears every verdict, before it is told to pytest."""

    drill: str
    history: History
    on_verdict: Callable[[Timeline, Verdict, History], None]

    @property
    def timeline(self) -> Timeline:
        """The marks of this drill.

        Raises:
            Inconclusive: the drill never began.
        """
        for timeline in timelines(self.history):
            if timeline.drill == self.drill:
                return timeline
        raise Inconclusive(f"grade {self.drill}", why="the record does not say that it began", todo="run the same command again")

    def must(self, criterion: Criterion) -> None:
        """Passes when this drill meets the criterion.

        Raises:
            CriterionNotMet: the cluster failed.
            Inconclusive: the evidence does not decide.
        """
        __tracebackhide__ = True
        timeline, verdict = self.timeline, criterion.grade(self.history)
        self.on_verdict(timeline, verdict, self.history)
        must(verdict)


@dataclass(frozen=True, slots=True)
class Job:
    """A load under which drills are made. It is started when the first strike needs it."""

    spec: WorkloadSpec
    checkpoint_interval: int | None


class Drilling:
    """The fixture ``drill``: strikes under a job. A strike that the record holds is read, not repeated."""

    def __init__(self, asked: Asked, site: Site, on_verdict: Callable[[Timeline, Verdict, History], None]) -> None:
        self._asked, self._site, self._on_verdict = asked, site, on_verdict
        self._job: Job | None = None

    @contextmanager
    def under(self, spec: WorkloadSpec) -> Iterator[Job]:
        """The job that strikes inside of the block hit."""
        self._job = Job(spec, self._asked.catalog.workload(spec).checkpoint_every)
        try:
            yield self._job
        finally:
            self._job = None

    def strike(self, fault: Fault, *, on: Node, limit: Duration = 5 * minutes) -> Incident:
        """Breaks one thing and watches; the incident.

        Raises:
            PlanError: there is no job to strike.
            ChaosError: the drill could not be carried out.
        """
        if self._job is None:
            raise PlanError(f"strike {fault} on {on}", why="no job runs", todo="strike inside of `with drill.under(training):`")
        if self._asked.dry_run:
            pytest.skip(f"dry run: would inject {fault} on {on} ({fault.severity}, {fault.fidelity}: {fault.mechanism})")
        drill, history = self._site.strike(self._job, fault, on, limit)
        return Incident(drill, only_drill(history, drill), self._on_verdict)


class Recorded:
    """A site that is only read."""

    def __init__(self, history: History) -> None:
        self._history = history

    def strike(self, job: Job, fault: Fault, node: Node, limit: Duration) -> tuple[str, History]:
        """The drill with this fault on this node, as recorded."""
        del limit
        for _, ended in self._history.of(DrillEnded):
            if ended.drill == name_of(fault, node):
                return ended.drill, self._history
        raise Inconclusive(
            f"find {fault} on {node} under {job.spec.name}", why="the record has no such drill", todo="run it without --replay"
        )


class Live:
    """A site that is opened when the first strike needs it, and left clean at the end."""

    def __init__(self, asked: Asked, plan: Plan, stack: ExitStack) -> None:
        self._asked, self._plan, self._stack = asked, plan, stack
        self._session: LiveSession | None = None
        self._loads: dict[str, Load] = {}
        self._running: ExitStack | None = None

    def strike(self, job: Job, fault: Fault, node: Node, limit: Duration) -> tuple[str, History]:
        """Strikes, unless this run has done so already."""
        session = self._opened()
        drill = session.has_struck(fault, node) or session.strike(self._load(session, job), fault, node, limit=limit)
        return drill, session.history()

    def _opened(self) -> LiveSession:
        if self._session is None:
            self._session = self._stack.enter_context(_live(self._asked, self._plan))
        return self._session

    def _load(self, session: LiveSession, job: Job) -> Load:
        """The running load; another one is stopped first, since one cluster bears one job."""
        if job.spec.name not in self._loads:
            self.stop()
            self._running = self._stack.enter_context(ExitStack())
            self._loads = {job.spec.name: self._running.enter_context(session.load(job.spec))}
        return self._loads[job.spec.name]

    def stop(self) -> None:
        """Stops the load that runs."""
        if self._running is not None:
            self._running.close()
        self._loads, self._running = {}, None


Site = Recorded | Live


def name_of(fault: Fault, node: Node) -> str:
    """The name of a drill that a suite asks for, as the engine gives it."""
    return f"{node.name}-{fault}"


@contextmanager
def _live(asked: Asked, plan: Plan) -> Iterator[LiveSession]:
    from chaos.engine.live import live  # noqa: PLC0415 - what acts on nodes is loaded by the tests that act

    with opened(asked, plan) as session, live(session) as ready:
        yield ready
