"""Folds stay linear: a long record is read in about a second of processor time."""

import time

from chaos.criteria.canaries.quick_run import NODES
from chaos.criteria.canaries.recorder import Recorder
from chaos.criteria.canaries.training_job import TrainingJob
from chaos.model.folding.slots import service
from chaos.model.folding.steps import progress
from chaos.model.folding.timelines import timelines


def history(steps):
    recorder = Recorder()
    job = TrainingJob(recorder, "training", NODES, ())
    job.start()
    job.steps(steps)
    job.end()
    return recorder.history()


def cost(steps):
    told = history(steps)
    start = time.process_time()
    progress(told, "training")
    timelines(told)
    service(told)
    return time.process_time() - start


def test_four_times_the_steps_take_no_more_than_about_four_times_as_long():
    cost(100)

    assert cost(12_500) < 5.0, "100,000 observations"
    assert cost(8_000) < 12 * max(cost(2_000), 0.02)
