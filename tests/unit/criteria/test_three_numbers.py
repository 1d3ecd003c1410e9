"""The three numbers: availability, the continuous run, recovery."""

from dataclasses import replace
from decimal import Decimal

import pytest

from chaos.criteria.availability import Availability
from chaos.criteria.canaries.long_run import long_run
from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run, with_drill
from chaos.criteria.continuous_run import ContinuousRun
from chaos.criteria.recovery import Recovery
from chaos.model.quantities import Percentage
from chaos.model.verdicts import Outcome


def recovery(seconds):
    return Recovery(replace(Recovery().within, value=seconds))


@pytest.mark.parametrize(
    ("outage", "outcome"), [(0.0, Outcome.PASS), (500.0, Outcome.PASS), (530.0, Outcome.FAIL), (9000.0, Outcome.FAIL)]
)
def test_four_slots_over_725_hours_may_lose_about_522_seconds(outage, outcome):
    assert Availability().grade(long_run(outage_after=300, outage=outage)).outcome is outcome


def test_minutes_of_service_show_nothing_about_720_hours():
    verdict = Availability().grade(quick_run())

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.measured.low < 0.01
    assert verdict.measured.high == 1.0


def test_a_short_run_that_has_used_up_the_budget_of_720_hours_fails():
    assert Availability().grade(long_run(20, outage_after=10, outage=600.0)).outcome is Outcome.FAIL


def test_the_four_readings_stand_beside_each_other():
    labels = [label for label, _ in Availability().grade(quick_run()).details]

    assert [label.split(",")[0] for label in labels[:4]] == ["A_cap", "A_node", "A_kofn", "A_job"]


def test_thirty_days_of_four_slots_demonstrate_less_than_they_observe():
    shown = Availability().grade(long_run(720)).demonstrated

    assert shown.bound == pytest.approx(0.9999333743, abs=1e-7)
    assert shown.still_needed.startswith("39.9")


@pytest.mark.parametrize(
    ("history", "strict", "resilient"),
    [
        (long_run(), Outcome.PASS, Outcome.PASS),
        (long_run(outage_after=300, outage=120.0), Outcome.FAIL, Outcome.PASS),
        (long_run(outcome="failed"), Outcome.FAIL, Outcome.FAIL),
        (long_run(100), Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE),
        (quick_run(), Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE),
    ],
    ids=["quiet", "recovered", "failed", "short", "drilled"],
)
def test_the_strict_and_the_resilient_reading(history, strict, resilient):
    assert ContinuousRun(reading="strict").grade(history).outcome is strict
    assert ContinuousRun(reading="resilient").grade(history).outcome is resilient


def test_a_clean_run_of_720_hours_demonstrates_313_hours():
    shown = ContinuousRun().grade(long_run(721)).demonstrated

    assert shown.bound == pytest.approx(312.692, abs=0.001)
    assert "more hours" in shown.still_needed


def test_recovery_is_compared_with_its_errors():
    history = with_drill("job.rank_killed")  # 2.7 s, within 7 ms

    assert recovery(2.71).grade(history).outcome is Outcome.PASS
    assert recovery(2.70).grade(history).outcome is Outcome.INCONCLUSIVE
    assert recovery(2.69).grade(history).outcome is Outcome.FAIL


def test_a_miss_counts_and_is_no_exclusion():
    drills = (*GOOD_DRILLS[:5], replace(GOOD_DRILLS[6], recovers=False))
    verdict = Recovery().grade(quick_run(drills))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.demonstrated.text.startswith("5 of 6 drills recovered")


def test_each_class_and_the_mixture_are_told():
    labels = [label for label, _ in Recovery().grade(quick_run()).details]

    assert {"class process", "class network", "class node", "mixture of all classes"} <= set(labels)


def test_eleven_clean_drills_demonstrate_81_percent_at_90():
    shown = Recovery(share=Percentage(Decimal(80))).grade(quick_run()).demonstrated

    assert shown.bound == pytest.approx(0.1 ** (1 / 11))
    assert shown.still_needed == ""


def test_a_planned_drill_that_never_began_is_missing():
    history = quick_run(GOOD_DRILLS[:2])
    opened = history.events[0]
    plan = {"steps": [{"strikes": [{"id": "drill-01"}, {"id": "drill-02"}, {"id": "drill-03"}]}]}
    events = (replace(opened, body=replace(opened.body, plan=plan)), *history.events[1:])
    verdict = Recovery().grade(replace(history, events=events))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.coverage.missing == ("drill-03",)
