"""Holes in what was watched."""

import pytest

from chaos.criteria.canaries.recorder import Recorder
from chaos.model.folding.watching import bridged_gaps, watch_gaps


def holes(*reasons):
    recorder = Recorder()
    for why in reasons:
        recorder.see("node1", "watch.gap", {"watch": "accelerators", "why": why, "lost": None})
        recorder.at += 2
    return watch_gaps(recorder.history()), bridged_gaps(recorder.history())


def test_a_state_that_is_read_again_hides_nothing_that_lasted():
    assert holes("NVML did not answer within 3 s", "NVML answers again") == ((), ("node1: accelerators, 2 s",))


def test_a_watch_that_stays_silent_is_a_hole():
    missing, bridged = holes("NVML did not answer within 3 s", "NVML answers again", "NVML did not answer within 3 s")

    assert missing == ("node1: accelerators, NVML did not answer within 3 s",)
    assert len(bridged) == 1


@pytest.mark.parametrize(
    "why", ["records are missing", "the file was rotated or cut", "the kernel's ring buffer overflowed", None]
)
def test_lost_lines_are_lost(why):
    missing, bridged = holes(why)

    assert len(missing) == 1
    assert bridged == ()
