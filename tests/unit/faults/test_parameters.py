"""Parameters are accepted within their bounds and refused outside, with words that say what to choose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.errors import PlanError
from chaos.faults.job.straggler import Straggler
from chaos.faults.memory.oom import OutOfMemory
from chaos.faults.nic.flap import Flap
from chaos.faults.nic.link_down import LinkDown
from chaos.faults.storage.checkpoint_truncated import CheckpointTruncated
from chaos.model.quantities import Duration, milliseconds, seconds


@given(share=st.floats(0.1, 0.9), period=st.integers(20, 400))
def test_a_straggler_is_slower_but_never_stands_still(share, period):
    assert 0 < Straggler(share=share, period=period * milliseconds).share < 1


@given(share=st.floats(allow_nan=True).filter(lambda value: not 0.1 <= value <= 0.9))
def test_any_other_share_is_refused(share):
    with pytest.raises(PlanError, match=r"choose 0\.1 to 0\.9"):
        Straggler(share=share)


@given(flaps=st.integers(1, 100), down=st.integers(50, 5000), up=st.integers(50, 30_000))
def test_flaps_are_over_within_a_minute_or_refused(flaps, down, up):
    whole = flaps * (down + up)
    if whole <= 60_000:
        assert Flap(flaps=flaps, down_for=down * milliseconds, up_for=up * milliseconds).takes == whole * milliseconds
    else:
        with pytest.raises(PlanError, match="within 1m"):
            Flap(flaps=flaps, down_for=down * milliseconds, up_for=up * milliseconds)


@pytest.mark.parametrize("value", [1, True, "1s", None, 6 * seconds, Duration(0)])
def test_a_span_is_a_duration_within_bounds(value):
    with pytest.raises(PlanError, match="'down_for'"):
        Flap(down_for=value)


@pytest.mark.parametrize("value", [-1, 64, 0.5, "0", True, None])
def test_a_port_is_a_number_that_a_node_can_have(value):
    with pytest.raises(PlanError, match="'port'"):
        LinkDown(port=value)


@given(limit=st.integers())
def test_a_memory_limit_is_small_and_positive_or_refused(limit):
    if 64 <= limit <= 1 << 20:
        assert OutOfMemory(limit_kib=limit).limit_kib == limit
    else:
        with pytest.raises(PlanError):
            OutOfMemory(limit_kib=limit)


@given(keep=st.floats(0.0, 0.99), size=st.integers(2, 1 << 50))
def test_a_truncated_file_is_always_shorter_than_it_was(keep, size):
    assert 0 <= CheckpointTruncated(keep=keep)._cut(size) < size


def test_a_whole_number_is_a_share_too():
    assert CheckpointTruncated(keep=0).keep == 0
