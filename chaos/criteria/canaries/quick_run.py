"""A whole run of some minutes, made by hand: preflight, all-reduce, an uninterrupted reference, eleven drills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from chaos.criteria.canaries import drill_script as signs
from chaos.criteria.canaries.drill_script import DrillScript, play
from chaos.criteria.canaries.recorder import Recorder
from chaos.criteria.canaries.training_job import TrainingJob
from chaos.model.events import (
    ClockMeasured,
    Measured,
    NodeReached,
    RunClosed,
    RunOpened,
    StepBegun,
    StepDone,
    WorkloadEnded,
    WorkloadStarted,
)
from chaos.model.history import History

NODES = ("node1", "node2", "node3", "node4")
SPARES = ("spare1",)

GOOD_DRILLS: tuple[DrillScript, ...] = (
    DrillScript("job.rank_killed", "GC01", "process", "node1", signs=signs.killed, layer="process of the job"),
    DrillScript("job.rank_frozen", "GC02", "process", "node2", signs=signs.frozen, layer="process of the job", stall=2.5),
    DrillScript("job.straggler", "SW01", "straggler", "node3", "degrade", "safe", layer="process of the job", lost_peers=False),
    DrillScript("nic.flap", "NW02", "network", "node1", "ride out", "safe", signs=signs.flapped, layer="link"),
    DrillScript("memory.oom", "HO05", "memory", "node4", signs=signs.out_of_memory, layer="host"),
    DrillScript("storage.checkpoint_truncated", "ST06", "storage", "node4", "fall back", signs=signs.killed, layer="storage"),
    DrillScript("nic.link_down", "NW01", "network", "node4", "replace", signs=signs.unplugged, layer="link", stall=3.5),
    DrillScript("nic.partition", "NW07", "network", "node2", "replace", signs=signs.cut_off, layer="network", stall=3.6),
    DrillScript("gpu.ecc_double_bit", "GM02", "accelerator", "node1", "replace", fidelity="emulated", signs=signs.double_bit),
    DrillScript(
        "gpu.off_the_bus", "GC05", "accelerator", "node2", "replace", fidelity="emulated", signs=signs.off_the_bus, stall=3.4
    ),
    DrillScript("host.crash", "HO01", "node", "node3", "replace", "destructive", signs=signs.crashed, stall=2.0),
)
"""One drill of each class of fault that a small cluster must come through."""


def quick_run(
    drills: tuple[DrillScript, ...] = GOOD_DRILLS,
    *,
    limit: float = 60.0,
    loss_error: float = 0.0,
    wrong: int = 0,
    ranks_proven: int | None = None,
    is_closed: bool = True,
) -> History:
    """A complete run with these drills.

    ``limit``: seconds each drill is given. ``loss_error``: relative error of every loss after the first drill. ``wrong``: wrong elements
    in the all-reduce. ``ranks_proven``: ranks that took part in it, all by default.
    """
    recorder = Recorder()
    _open(recorder, drills, limit)
    _measure(recorder, wrong, ranks_proven)
    _reference(recorder, steps=24 + 60 * max(1, len(drills)))
    _drill(recorder, drills, limit, loss_error)
    recorder.at += 1.0
    if is_closed:
        recorder.write(RunClosed("finished"))
    return recorder.history()


@cache
def good_run() -> History:
    """The run in which everything is as it should be; made once, because many criteria accept it."""
    return quick_run()


def with_drill(fault: str, **changes: Any) -> History:
    """A good run of one drill, the one of this fault, with some of it changed."""
    script = next(script for script in GOOD_DRILLS if script.fault == fault)
    return quick_run((replace(script, **changes),))


def never_at_full_speed() -> History:
    """A recovery after which the job goes on at half its pace."""
    script = replace(GOOD_DRILLS[0], slower_after=2.0, steps_after=60)
    return quick_run((script,))


def _open(recorder: Recorder, drills: tuple[DrillScript, ...], limit: float) -> None:
    strikes = [
        {"type": "Strike", "id": f"drill-{number:02d}", "fault": {"type": "FaultSpec", "kind": script.fault}, "node": script.node}
        for number, script in enumerate(drills, 1)
    ]
    plan = {"type": "Plan", "name": "quick", "seed": 7, "steps": [{"type": "Drills", "id": "drills", "strikes": strikes}]}
    recorder.write(
        RunOpened(
            run_id="20260301-080000-canary",
            purpose="certify",
            plan=plan,
            plan_digest="1" * 64,
            inventory_digest="2" * 64,
            cluster="canary",
            is_virtual=True,
            nodes=NODES,
            spares=SPARES,
            contracted_slots=len(NODES),
            seed=7,
            versions={"chaos": "0", "limit": f"{limit:g}s"},
        )
    )
    with _step(recorder, "preflight", "Reach every node"):
        for node in (*NODES, *SPARES):
            recorder.at += 0.1
            boot = f"boot-{node}-1"
            recorder.write(NodeReached(node, recorder.at, boot, {"system": "Linux", "python": "3.11", "accelerators": 2}))
            recorder.write(ClockMeasured(node, 12.5, 0.002, boot))
            recorder.see(node, "link", {"interface": "rdma0", "operstate": "up", "carrier": 1, "carrier_changes": 2})
            device = {"index": 0, "uuid": f"GPU-{node}-0", "lost": False, "ecc_corrected": 0, "ecc_uncorrected": 0}
            recorder.see(node, "accelerator", {**device, "temperature": 41})


class _step:  # noqa: N801 - reads as a statement
    """A step of the plan around what is written inside."""

    def __init__(self, recorder: Recorder, step: str, title: str) -> None:
        self.recorder, self.step, self.title = recorder, step, title

    def __enter__(self) -> None:
        self.recorder.write(StepBegun(self.step, self.title))

    def __exit__(self, *_error: object) -> None:
        self.recorder.write(StepDone(self.step))


def all_reduce_rows(wrong: int) -> tuple[Mapping[str, Any], ...]:
    """A sweep over three sizes with the time of each iteration, in the shape that the all-reduce load measures."""
    rows = []
    for size in (4096, 262144, 4194304):
        usual = 0.002 + size / 2e9
        times = [round(usual * (1 + 0.01 * ((7 * i) % 5 - 2)), 9) for i in range(50)]
        algbw = size / usual / 1e9
        row = {"size_bytes": size, "iterations": len(times), "time_us": usual * 1e6, "wrong": wrong, "ranks": 8}
        rows.append({**row, "algbw_gbps": algbw, "busbw_gbps": algbw * 2 * 7 / 8, "times_us": [t * 1e6 for t in times]})
    return tuple(rows)


def _measure(recorder: Recorder, wrong: int, ranks_proven: int | None) -> None:
    ranks = 2 * len(NODES)
    with _step(recorder, "allreduce", "Measure the all-reduce"):
        recorder.write(WorkloadStarted("allreduce", "all-reduce", "elastic", "nobody", NODES, (), ranks, recorder.at))
        recorder.at += 1.0
        for rank in range(ranks):
            told = {"rank": rank, "world": ranks, "round": 0, "proven": ranks}
            recorder.see(NODES[rank // 2], "rank.communicator", told, workload="allreduce")
        recorder.at += 3.0
        proven = ranks if ranks_proven is None else ranks_proven
        recorder.write(Measured("allreduce", "all-reduce", proven, ranks, NODES, all_reduce_rows(wrong), "gloo"))
        recorder.write(WorkloadEnded("allreduce", "finished", recorder.at))


def _reference(recorder: Recorder, steps: int) -> None:
    with _step(recorder, "reference", "Train without interruption"):
        job = TrainingJob(recorder, "reference", NODES, (), pace=0.05)
        job.start()
        job.steps(steps)
        job.end("finished")


def _drill(recorder: Recorder, drills: tuple[DrillScript, ...], limit: float, loss_error: float) -> None:
    with _step(recorder, "drills", "Break things while the job runs"):
        job = TrainingJob(recorder, "training", NODES, SPARES)
        job.loss_error = loss_error
        job.start()
        for number, script in enumerate(drills, 1):
            play(recorder, job, script, f"drill-{number:02d}", limit=limit)
            if not script.recovers:
                break
        job.end()
