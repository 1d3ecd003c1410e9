"""A load while it runs: started on its nodes, followed, started again on a node that came back, and stopped by name."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.engine.observing import Followed
from chaos.engine.progress import Progress
from chaos.engine.session import Session
from chaos.errors import ChaosError, CommandFailed
from chaos.ledger.series import Series
from chaos.model.events import Noted, WorkloadEnded, WorkloadStarted
from chaos.model.guards import JobState
from chaos.model.nodes import Node, Role
from chaos.model.plans import WorkloadSpec
from chaos.model.quantities import Duration, seconds
from chaos.protocols.fault import Target
from chaos.protocols.workload import Launch, Workload


@dataclass
class Load:
    """A running load. ``progress`` is live; what counts for a verdict is in the ledger."""

    session: Session
    spec: WorkloadSpec
    workload: Workload
    launch: Launch
    followed: Followed

    @property
    def name(self) -> str:
        """The name of the workload in the plan."""
        return self.spec.name

    @property
    def progress(self) -> Progress:
        """What its ranks said so far."""
        return self.followed.progress

    @property
    def checkpoint_interval(self) -> int:
        """Steps between two checkpoints: the most that a recovery may lose.

        Raises:
            LookupError: the load writes no checkpoints.
        """
        every = self.workload.checkpoint_every
        if every is None:
            message = f"{self.name} writes no checkpoints"
            raise LookupError(message)
        return every

    def wait_steps(self, count: int, limit: Duration) -> bool:
        """Waits until that many further steps have ended without a change of the round."""
        progress = self.progress
        start, number = len(progress.steps), progress.round

        def has_run() -> bool:
            nonlocal start, number
            if progress.round != number:
                start, number = len(progress.steps), progress.round
            return len(progress.steps) - start >= count and number >= 0

        return self.session.pump(limit, has_run)

    def wait_end(self, limit: Duration) -> bool:
        """Waits until every rank has finished."""
        return self.session.pump(limit, lambda: len(self.progress.finished) >= self.launch.expected_ranks)

    def last_words(self) -> str:
        """What failed last, for an error message."""
        return "; ".join(self.progress.failures[-2:]) or "no rank said that it failed"

    def target(self, node: Node, injection: str) -> Target:
        """The node as a fault sees it now."""
        peers = tuple(
            interface.address for other in self.session.cluster if other.name != node.name for interface in other.training[:1]
        )
        return Target(
            node=node,
            platform=self.session.platform(node),
            ranks=self.progress.ranks_on(node.name),
            peers=peers,
            checkpoint=self.progress.checkpoint,
            injection=injection,
        )

    def start_again_on(self, node: Node) -> None:
        """Starts the node's part again after the node lost it with its memory."""
        for name, job in self.launch.jobs:
            if name == node.name:
                self.session.fleet.shell(name).start(job)

    def stop(self, outcome: str = "stopped", why: str = "") -> None:
        """Ends the load everywhere, last started first; what could not be stopped is booked."""
        for name, job in reversed(self.launch.jobs):
            try:
                self.session.fleet.shell(name).stop(job.name)
            except ChaosError as error:
                self.session.ledger.append(Noted(name, f"{job.name} not stopped: {error}"))
        self.session.pump(0.2 * seconds)
        self.session.observer.forget(self.followed)
        self.session.ledger.append(WorkloadEnded(self.name, outcome, self.session.clock.now(), why))


def start_load(session: Session, spec: WorkloadSpec, *, fence: int) -> Load:
    """Starts a load on the cluster's compute nodes, with its spares standing by.

    Raises:
        SiteError: a node did not take its part; what was started is stopped again.
    """
    workload = session.catalog.workload(spec)
    launcher = session.catalog.launcher(session.cluster.launcher)
    launch = launcher.launch(workload, spec.name, session.cluster, fence=fence, with_spares=not workload.measures)
    followed = Followed(spec.name, workload, Progress(launch.expected_ranks), Series(session.ledger.folder, spec.name))
    session.observer.follow(followed, {job.name for _, job in launch.jobs})
    session.ledger.append(_started(session, spec, workload, launch))
    load = Load(session, spec, workload, launch, followed)
    try:
        for name, job in launch.jobs:
            _must_run(name, session.fleet.shell(name).start(job))
    except BaseException as error:
        load.stop("failed", str(error))
        raise
    return load


def _must_run(node: str, state: JobState) -> None:
    if not state.is_running and state.exit_status not in (None, 0):
        raise CommandFailed(f"start {state.name}", where=node, exit_status=state.exit_status, tail=state.output_tail)


def _started(session: Session, spec: WorkloadSpec, workload: Workload, launch: Launch) -> WorkloadStarted:
    return WorkloadStarted(
        workload=spec.name,
        type=spec.kind,
        launcher=session.cluster.launcher,
        recovered_by=launch.recovered_by,
        nodes=tuple(node.name for node in session.cluster.where(role=Role.COMPUTE)),
        spares=() if workload.measures else tuple(node.name for node in session.cluster.where(role=Role.SPARE)),
        expected_ranks=launch.expected_ranks,
        at=session.clock.now(),
        parameters=dict(spec.parameters),
        checkpoint_every=workload.checkpoint_every,
    )
