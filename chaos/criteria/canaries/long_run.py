"""Thirty days in some hundred events: one training job with a step an hour, and what nature does to it."""

from __future__ import annotations

from chaos.criteria.canaries.quick_run import NODES, SPARES
from chaos.criteria.canaries.recorder import Recorder
from chaos.criteria.canaries.training_job import TrainingJob
from chaos.model.events import ClockMeasured, NodeReached, RunClosed, RunOpened
from chaos.model.history import History

HOUR = 3600.0


def long_run(hours: int = 725, *, outage_after: int | None = None, outage: float = 0.0, outcome: str = "finished") -> History:
    """A run of so many hours without drills. ``outage_after`` hours a link of node2 is down for ``outage`` seconds."""
    recorder = Recorder()
    recorder.write(
        RunOpened(
            run_id="20260301-080000-long",
            purpose="soak",
            plan={},
            plan_digest="1" * 64,
            inventory_digest="2" * 64,
            cluster="canary",
            is_virtual=False,
            nodes=NODES,
            spares=SPARES,
            contracted_slots=len(NODES),
            seed=7,
        )
    )
    for node in (*NODES, *SPARES):
        recorder.write(NodeReached(node, recorder.at, f"boot-{node}-1"))
        recorder.write(ClockMeasured(node, 0.0, 0.002, f"boot-{node}-1"))
        recorder.see(node, "link", {"interface": "rdma0", "operstate": "up", "carrier": 1, "carrier_changes": 2})
    job = TrainingJob(recorder, "training", NODES, SPARES, pace=HOUR)
    job.start()
    job.steps(hours if outage_after is None else outage_after)
    if outage_after is not None:
        _outage(recorder, job, outage)
        job.steps(hours - outage_after)
    job.end(outcome)
    recorder.at += 1.0
    recorder.write(RunClosed("finished"))
    return recorder.history()


def _outage(recorder: Recorder, job: TrainingJob, seconds: float) -> None:
    port = {"interface": "rdma0", "carrier_changes": 3}
    recorder.see("node2", "link", {**port, "operstate": "down", "carrier": 0})
    job.lose_peers("node2")
    recorder.at += seconds
    recorder.see("node2", "link", {**port, "operstate": "up", "carrier": 1})
    job.begin_round(2.0)
