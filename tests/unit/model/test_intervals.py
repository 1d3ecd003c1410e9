"""Spans of time behave like sets of moments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.model.intervals import Interval, Spans

pairs = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)
spans = pairs.map(Spans.of)
MOMENTS = [step / 2 + 0.25 for step in range(110)]


def within(some: Spans) -> set[float]:
    return {moment for moment in MOMENTS if some.contains(moment)}


def test_overlapping_and_touching_intervals_become_one():
    assert list(Spans.of([(5, 7), (0, 2), (2, 4), (6, 9)])) == [Interval(0, 4), Interval(5, 9)]


def test_an_interval_without_length_is_kept():
    assert len(Spans.of([(3, 3)])) == 1
    assert Spans.of([(3, 3)]).total == 0


def test_an_interval_cannot_end_before_it_starts():
    with pytest.raises(ValueError, match="cannot end"):
        Interval(2, 1)


@given(spans, spans)
def test_union_intersection_and_difference_are_those_of_sets(left, right):
    assert within(left | right) == within(left) | within(right)
    assert within(left & right) == within(left) & within(right)
    assert within(left - right) == within(left) - within(right)


@given(spans, spans)
def test_lengths_add_up(left, right):
    assert (left | right).total + (left & right).total == left.total + right.total
    assert (left - right).total + (left & right).total == left.total


@given(spans, st.integers(0, 50), st.integers(1, 20))
def test_clipping_is_intersecting_with_the_window(some, start, length):
    assert some.clip(start, start + length).total == (some & Spans.of([(start, start + length)])).total
