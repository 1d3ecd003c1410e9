"""What an all-reduce sweep measured, out of what its ranks said."""

from __future__ import annotations

import pytest

from chaos.protocols.workload import Reading
from chaos.workloads.all_reduce import AllReduce


def result(size: int, times: list[float], ranks: int = 16, wrong: int = 0) -> Reading:
    return Reading("collective.result", 1.0, {"size_bytes": size, "times": times, "ranks": ranks, "wrong": wrong})


def rows(*readings: Reading):
    return AllReduce().rows(readings)


def test_bandwidths_are_those_of_nccl_tests():
    (row,) = rows(result(1 << 30, [0.005]))

    assert row["algbw_gbps"] == pytest.approx(214.748365)
    assert row["busbw_gbps"] == pytest.approx(402.653184)


def test_one_rank_transports_nothing_and_is_visible_as_one():
    (row,) = rows(result(4096, [1e-4], ranks=1))

    assert (row["busbw_gbps"], row["ranks"]) == (0.0, 1)


def test_a_size_without_times_is_missing_not_zero():
    assert rows(result(4096, []), Reading("rank.finished", 2.0, {"rank": 0})) == ()


def test_wrong_elements_are_counted():
    assert rows(result(4096, [1e-4], wrong=3))[0]["wrong"] == 3


def test_jitter_is_told_in_three_readings_in_microseconds():
    (row,) = rows(result(8, [10e-6] * 8 + [8e-6, 14e-6]))

    assert row["time_us"] == pytest.approx(10)
    assert row["jitter_spread_us"] == pytest.approx(6)
    assert row["jitter_worst_us"] == pytest.approx(4)
    assert row["jitter_deviation_us"] == pytest.approx(1.4)
