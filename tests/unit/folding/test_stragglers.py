"""Who holds up a synchronous job."""

import pytest

from chaos.criteria.canaries.quick_run import NODES
from chaos.criteria.canaries.recorder import Recorder
from chaos.criteria.canaries.training_job import TrainingJob
from chaos.model.folding.stragglers import WINDOW, straggler_alarms


def named(compute, seconds=0.2, steps=20):
    """The alarms of a job whose rank r computes for compute(step, r) seconds."""
    recorder = Recorder()
    job = TrainingJob(recorder, "training", NODES, ())
    job.start()
    for step in range(1, steps + 1):
        recorder.at += seconds
        for rank in range(8):
            data = {"rank": rank, "step": step, "loss": "0x1p0", "seconds": seconds, "compute_seconds": compute(step, rank)}
            recorder.see(NODES[rank // 2], "rank.step", data, workload="training")
    job.end()
    return [(alarm.node, alarm.cause) for alarm in straggler_alarms(recorder.history(), "training")]


def test_a_rank_that_is_slow_for_a_while_is_named_once():
    assert named(lambda _step, rank: 0.1 if rank == 4 else 0.05) == [("node3", "straggler: rank 4")]


def test_ranks_that_are_equally_slow_name_nobody():
    assert named(lambda _step, _rank: 0.1) == []


@pytest.mark.parametrize("spike", [0.06, 0.12])
def test_single_disturbed_steps_name_nobody(spike):
    assert named(lambda step, rank: spike if (step + rank) % 11 == 0 else 0.05) == []


def test_slowness_that_costs_the_step_nothing_is_noise():
    assert named(lambda _step, rank: 0.012 if rank == 4 else 0.0015) == []


def test_fewer_steps_than_a_window_name_nobody():
    assert named(lambda _step, rank: 0.2 if rank == 4 else 0.05, steps=WINDOW - 1) == []


def test_an_unknown_compute_time_names_nobody():
    assert named(lambda _step, rank: None if rank == 1 else (0.2 if rank == 4 else 0.05)) == []
