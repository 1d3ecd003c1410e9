"""An all-reduce that did not do what it claims says nothing about the cluster."""

from dataclasses import replace

import pytest

from chaos.criteria.all_reduce_bandwidth import AllReduceBandwidth
from chaos.criteria.all_reduce_correctness import AllReduceCorrectness
from chaos.criteria.canaries.quick_run import all_reduce_rows, quick_run
from chaos.criteria.jitter import Jitter
from chaos.criteria.scaling import Scaling
from chaos.model.events import Measured
from chaos.model.history import History
from chaos.model.verdicts import Outcome

BASE = quick_run(())


def measured(**changes):
    """The good run with its all-reduce result changed."""
    events = tuple(
        replace(event, body=replace(event.body, **changes)) if isinstance(event.body, Measured) else event
        for event in BASE.events
    )
    return History(events, BASE.series)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.PASS),
        ({"rows": ()}, Outcome.INCONCLUSIVE),
        ({"rows": tuple({"size_bytes": 4096} for _ in range(3))}, Outcome.INCONCLUSIVE),
        ({"ranks_proven": 1}, Outcome.INVALID),
        ({"ranks_proven": 0}, Outcome.INVALID),
        ({"ranks_proven": 1, "ranks_expected": 1}, Outcome.INVALID),
        ({"nodes": ("node1", "node2", "node3")}, Outcome.INCONCLUSIVE),
        ({"rows": all_reduce_rows(1)}, Outcome.FAIL),
        ({"rows": all_reduce_rows(-1)}, Outcome.INCONCLUSIVE),
        ({"rows": ({**all_reduce_rows(0)[0], "ranks": 2},)}, Outcome.INVALID),
    ],
)
def test_correctness(changes, outcome):
    assert AllReduceCorrectness().grade(measured(**changes)).outcome is outcome


def test_bandwidth_without_a_threshold_only_informs():
    verdict = AllReduceBandwidth().grade(BASE)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.measured.unit == "GB/s"


def test_a_size_that_was_not_measured_has_no_bandwidth():
    assert AllReduceBandwidth(size_bytes=7).grade(BASE).outcome is Outcome.INCONCLUSIVE


def test_jitter_of_too_few_iterations_cannot_pass():
    limit = Jitter.known_good()[0].at_most

    assert Jitter(limit, samples=50).grade(BASE).outcome is Outcome.PASS
    assert Jitter(limit, samples=1000).grade(BASE).outcome is Outcome.INCONCLUSIVE


def test_jitter_prints_every_definition_and_grades_one():
    assert [name for name, _ in Jitter(samples=50).grade(BASE).details] == ["spread", "worst", "deviation"]
    assert Jitter(definition="skew").grade(BASE).outcome is Outcome.INCONCLUSIVE


def test_scaling_that_was_not_measured_is_inconclusive():
    assert Scaling().grade(BASE).outcome is Outcome.INCONCLUSIVE
