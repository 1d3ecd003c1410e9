"""The public fault trace: small rows of our own, and the real file where it is at hand."""

import json
import math
import statistics
from pathlib import Path

import pytest

from chaos.errors import UsageError
from chaos.readers.infinitehbd import (
    brief,
    down_spans,
    looks_like_trace,
    nodes_at_least,
    period,
    read_trace,
    windows,
)

FILE = Path(__file__).parents[4] / "shared" / "data" / "infinitehbd-trace" / "fault_trace.json"
REAL = pytest.mark.skipif(not FILE.exists(), reason=f"the public trace is not at {FILE}")
DBE = ("Hardware Failure", "GPU", "DBE")
STRESS = ("Other Failure", "Stress Test Failure", "Stress Test Failure")


def rows(*events):
    return json.dumps(
        [
            {
                "node_id": node,
                "event_time": at,
                "event_type": f"fault_{what}",
                "fault_type": dict(zip(("Level", "Class", "Desc"), kind, strict=True)),
            }
            for node, at, what, kind in events
        ]
    )


OVERLAP = rows(
    ("a", 1.0, "start", DBE), ("a", 2.0, "start", STRESS), ("a", 3.0, "end", DBE), ("b", 3.5, "start", DBE), ("b", 3.5, "end", DBE),
    ("a", 4.0, "end", STRESS), ("b", 8.0, "start", DBE),
)  # fmt: skip


def test_overlapping_faults_of_a_node_count_once():
    seen = period(read_trace(OVERLAP), 4, 0, 8)

    assert (seen.down, seen.naive_down) == (3.0, 4.0)
    assert seen.availability == 1 - 3 / 32
    assert (seen.incidents, seen.faults_begun, seen.clean_nodes) == (2, 3, 3)


def test_a_fault_without_an_end_lasts_to_the_end_of_the_window():
    trace = read_trace(OVERLAP)

    assert trace.faults[-1].end == math.inf
    assert period(trace, 4, 0, 10).down == 5.0
    assert trace.end == 8.0


def test_planned_classes_can_be_left_out():
    assert period(read_trace(OVERLAP).unplanned(), 4, 0, 8).down == 2.0


def test_nodes_that_never_occur_were_in_service():
    assert nodes_at_least(read_trace(OVERLAP), 10, 0, 8, 0.99995) == 9


def test_a_base_smaller_than_the_nodes_that_occur_is_refused():
    with pytest.raises(UsageError, match="names 2 nodes, and 1 were given"):
        period(read_trace(OVERLAP), 1, 0, 8)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("{}", "no list of events"),
        ("[]", "no list of events"),
        ("[1]", "event 1 lacks"),
        (rows(("a", 2.0, "start", DBE), ("a", 1.0, "end", DBE)), "earlier than the one before"),
        (rows(("a", 1.0, "end", DBE)), "never began"),
        (rows(("a", 1.0, "pause", DBE)), "fault_pause"),
        (rows(("a", "1", "start", DBE)), "has the time '1'"),
        (rows(("a", -1.0, "start", DBE)), "has the time -1"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_reason(text, why):
    with pytest.raises(UsageError, match=why):
        read_trace(text)


def test_a_trace_is_told_from_other_files():
    assert looks_like_trace(OVERLAP)
    assert not looks_like_trace('{"sequence": 1}')


@pytest.fixture(scope="module")
def real():
    return read_trace(FILE.read_text())


@REAL
@pytest.mark.parametrize(("days", "down", "availability"), [(348, 3229.3261, 0.976801), (348.9798, 3231.3222, 0.976852)])
def test_availability_of_the_real_cluster(real, days, down, availability):
    seen = period(real, 400, 0, days)

    assert seen.down == pytest.approx(down, abs=5e-5)
    assert seen.availability == pytest.approx(availability, abs=5e-7)


@REAL
def test_incidents_of_the_real_cluster(real):
    lengths = [span.length for spans in down_spans(real).values() for span in spans]

    assert (len(real.faults), len(real.nodes), len(lengths)) == (584, 231, 582)
    assert period(real, 400, 0, 348.9798).naive_down == pytest.approx(3232.4438, abs=5e-5)
    assert period(real, 400, 0, 348).incidents == 581
    assert statistics.mean(lengths) * 24 == pytest.approx(133.25, abs=0.005)
    assert statistics.median(lengths) * 1440 == pytest.approx(1225, abs=0.5)
    assert (brief(real.faults, at_most_days=5 / 1440), brief(real.faults, at_most_days=0)) == (20, 14)
    assert nodes_at_least(real, 400, 0, 348, 0.99995) == 186


@REAL
def test_months_of_the_real_cluster(real):
    months = windows(real, 400, 348)
    best, worst = max(months, key=lambda m: m.availability), min(months, key=lambda m: m.availability)

    assert (best.start, best.end, best.faults_begun, best.clean_nodes) == (314, 344, 54, 366)
    assert best.availability == pytest.approx(0.992344, abs=5e-7)
    assert (worst.start, worst.end, worst.faults_begun, worst.clean_nodes) == (63, 93, 97, 339)
    assert worst.availability == pytest.approx(0.935954, abs=5e-7)


@REAL
@pytest.mark.parametrize(
    ("start", "availability", "faults", "clean"), [(0, 0.991849, 11, 390), (30, 0.980930, 37, 373), (120, 0.987560, 55, 369)]
)
def test_single_months_of_the_real_cluster(real, start, availability, faults, clean):
    month = period(real, 400, start, start + 30)

    assert month.availability == pytest.approx(availability, abs=5e-7)
    assert (month.faults_begun, month.clean_nodes) == (faults, clean)


@REAL
def test_planned_classes_of_the_real_cluster(real):
    unplanned = real.unplanned()

    assert len(unplanned.faults) == 467
    assert period(unplanned, 400, 0, 348.9798).availability == pytest.approx(0.97806, abs=5e-6)


@REAL
def test_counting_only_the_nodes_that_occur_gives_another_and_wrong_answer(real):
    assert period(real, 231, 0, 348).availability == pytest.approx(0.9598, abs=5e-5)
