"""Quantities are exact and refuse numbers without a unit."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.model.quantities import Bandwidth, Duration, Percentage, hours, microseconds, minutes, seconds


def test_the_budget_of_a_month_is_exact() -> None:
    allowed = 1 - Percentage.parse("99.995 %").fraction
    assert allowed * (720 * hours).nanoseconds == 129_600_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("720h", 720 * hours), ("5m", 5 * minutes), ("1h30m", 90 * minutes), ("1.5s", 1.5 * seconds), ("250us", 250 * microseconds)],
)
def test_durations_read_as_the_field_writes_them(text: str, expected: Duration) -> None:
    assert Duration.parse(text) == expected


@pytest.mark.parametrize("text", ["", "5", "300", "5 min", "-", "5:00", "h", "1.2.3s", "∞s"])
def test_a_number_without_a_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(text)


@given(st.integers(0, 10**9))
def test_a_duration_reads_back_as_it_is_written(number_of_microseconds: int) -> None:
    duration = number_of_microseconds * microseconds
    assert Duration.parse(str(duration)) == duration


@given(st.text(max_size=12))
def test_reading_any_text_gives_a_duration_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(Duration.parse(text), Duration)


@pytest.mark.parametrize("text", ["99.995", "0.99995", "", "%", "x %", "99 % of"])
def test_a_share_without_its_sign_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a percentage"):
        Percentage.parse(text)


def test_bytes_and_bits_are_told_apart() -> None:
    assert Bandwidth.gigabits(400) == Bandwidth.gigabytes(50)
