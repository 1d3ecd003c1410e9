"""Progress of a user's own job, read by a pattern."""

from __future__ import annotations

import json

import pytest

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.workloads.command import Command

MEGATRON = Command(
    argv=("bash", "train.sh"),
    pattern=r"iteration\s+(?P<step>\d+)/.*time per iteration \(ms\): (?P<time>[\d.]+).*lm loss: (?P<loss>\S+)",
    time_unit="ms",
)
LINE = " iteration       30/ 100 | elapsed time per iteration (ms): 812.5 | learning rate: 1E-4 | lm loss: 2.500000E+00 |"


def told(text: str, what: str = "output") -> str:
    return json.dumps({"what": what, "at": 12.5, "data": {"rank": 3, "text": text}})


def test_a_line_that_a_rank_passed_on_is_a_step_with_rank_time_and_an_exact_loss():
    reading = MEGATRON.read(told(LINE))

    assert (reading.what, reading.at) == ("rank.step", 12.5)
    assert reading.data == {"rank": 3, "step": 30, "seconds": 0.8125, "loss": (2.5).hex()}


def test_a_bare_line_has_no_time_of_its_own():
    reading = MEGATRON.read(LINE)

    assert reading.at is None
    assert reading.data["step"] == 30


@pytest.mark.parametrize(
    "line", ["", "saving checkpoint", told("warming up"), '{"what": "output"}', LINE.replace("2.500000E+00", "n/a")]
)
def test_a_line_without_progress_says_nothing(line):
    assert MEGATRON.read(line) is None


def test_events_of_the_launcher_pass_through():
    assert MEGATRON.read(told("", what="gate.out")).what == "gate.out"


@pytest.mark.parametrize("parameters", [{"pattern": "step"}, {"pattern": "("}, {"time_unit": "minutes"}])
def test_a_pattern_that_finds_no_step_and_an_unknown_unit_are_refused(parameters):
    with pytest.raises(PlanError):
        Command(argv=("true",), **parameters)


def test_an_empty_command_is_refused():
    with pytest.raises(PlanError, match="empty"):
        Command(argv=()).program(Node("node1", "10.0.0.1"), "own")
