"""Worked numbers, computed independently: what an amount of evidence demonstrates."""

import math

import pytest

from chaos.criteria.statistics import proportions, reliability


@pytest.mark.parametrize(
    ("failures", "confidence", "bound"),
    [
        (0, 0.90, 312.6920),
        (1, 0.90, 185.1033),
        (2, 0.90, 135.2793),
        (3, 0.90, 107.7718),
        (4, 0.90, 90.0722),
        (5, 0.90, 77.6308),
        (0, 0.60, 785.7768),
        (0, 0.80, 447.3612),
        (0, 0.95, 240.3419),
        (0, 0.99, 156.3460),
    ],
)
def test_720_hours_demonstrate_less_than_720_hours_between_failures(failures, confidence, bound):
    assert reliability.mtbf_lower(720, failures, confidence) == pytest.approx(bound, abs=6e-5)


def test_the_two_sided_interval_of_a_run_with_two_failures():
    assert reliability.mtbf_lower(720, 2, 0.95) == pytest.approx(114.36207, abs=1e-5)
    assert reliability.mtbf_upper(720, 2, 0.95) == pytest.approx(2026.10575, abs=1e-5)
    assert reliability.mtbf_upper(720, 0, 0.95) == math.inf


def test_a_mean_time_of_720_hours_takes_1658_clean_hours_to_demonstrate():
    assert reliability.needed_exposure(720, 0, 0.90) == pytest.approx(1657.86, abs=0.01)


@pytest.mark.parametrize(("mtbf", "chance"), [(720, 0.367879), (1000, 0.486752), (1440, 0.606531), (7200, 0.904837)])
def test_a_clean_run_of_720_hours_is_likely_or_not(mtbf, chance):
    assert reliability.clean_run_probability(720, mtbf) == pytest.approx(chance, abs=1e-6)


def test_laplace_trend_of_seven_failures():
    u, p = reliability.laplace_trend((100, 250, 400, 520, 600, 640, 690), 720)
    assert (u, p) == (pytest.approx(1.2365680, abs=1e-7), pytest.approx(0.2162475, abs=1e-7))


@pytest.mark.parametrize(
    ("slots", "bound", "allowed_90", "allowed_95"),
    [
        (2, 0.9998667485, None, None),
        (4, 0.9999333743, None, None),
        (6, 0.9999555828, 0, None),
        (8, 0.9999666871, 0, 0),
        (16, 0.9999833436, 3, 2),
        (32, 0.9999916717, 8, 7),
        (128, 0.9999979179, 45, 42),
        (1250, 0.9999997868, 509, 501),
    ],
)
def test_what_thirty_days_of_slots_demonstrate(slots, bound, allowed_90, allowed_95):
    days = slots * 30
    assert reliability.slot_availability_lower(days, 0, 300, 0.90) == pytest.approx(bound, abs=1e-10)
    assert reliability.most_outages(0.99995, days, 300, 0.90) == allowed_90
    assert reliability.most_outages(0.99995, days, 300, 0.95) == allowed_95


@pytest.mark.parametrize(("confidence", "days"), [(0.90, 159.901743), (0.95, 208.036963)])
def test_the_clean_slot_days_that_show_99_995_percent(confidence, days):
    assert reliability.needed_slot_days(0.99995, 0, 300, confidence) == pytest.approx(days, abs=1e-6)


@pytest.mark.parametrize(("up", "down", "outages", "bound"), [(719.9, 0.1, 2, 0.99942979), (719, 1, 12, 0.99763861)])
def test_one_unit_with_exponential_times(up, down, outages, bound):
    assert reliability.unit_availability_lower(up, down, outages, 0.90) == pytest.approx(bound, abs=1e-8)


PLANS = {
    (0.95, 0.80): [32, 59, 85, 110, 134, 157],
    (0.95, 0.90): [45, 77, 105, 132, 158, 184],
    (0.95, 0.95): [59, 93, 124, 153, 181, 208],
    (0.90, 0.90): [22, 38, 52, 65],
    (0.99, 0.90): [230, 388, 531, 667],
    (0.80, 0.90): [11],
    (0.90, 0.95): [29],
    (0.98, 0.90): [114],
    (0.99, 0.95): [299],
}


@pytest.mark.parametrize(("share", "confidence"), PLANS)
def test_drills_needed_with_so_many_misses(share, confidence):
    plan = PLANS[share, confidence]
    assert [proportions.needed_trials(share, confidence, misses) for misses in range(len(plan))] == plan


@pytest.mark.parametrize(
    ("successes", "trials", "at_90", "at_95"),
    [
        (10, 10, 0.794328, 0.741134),
        (12, 12, 0.825404, 0.779078),
        (19, 20, 0.819039, 0.783894),
        (20, 20, 0.891251, 0.860892),
        (44, 45, 0.916290, 0.898866),
        (45, 45, 0.950119, 0.935596),
        (59, 59, 0.961725, 0.950492),
        (76, 77, 0.950423, 0.939869),
    ],
)
def test_the_share_of_recoveries_that_drills_demonstrate(successes, trials, at_90, at_95):
    assert proportions.success_lower(successes, trials, 0.90) == pytest.approx(at_90, abs=1e-6)
    assert proportions.success_lower(successes, trials, 0.95) == pytest.approx(at_95, abs=1e-6)


def test_two_sided_intervals():
    assert proportions.success_interval(19, 20, 0.95) == (pytest.approx(0.751267, abs=1e-6), pytest.approx(0.998735, abs=1e-6))
    assert proportions.success_interval(3, 20, 0.95) == (pytest.approx(0.032071, abs=1e-6), pytest.approx(0.378927, abs=1e-6))


def test_nothing_tried_demonstrates_nothing():
    assert proportions.success_lower(0, 0, 0.90) == 0
    assert proportions.success_interval(0, 3, 0.90)[0] == 0


@pytest.mark.parametrize(
    ("trials", "confidence", "rank"),
    [(45, 0.90, 45), (77, 0.90, 76), (100, 0.90, 99), (200, 0.90, 195), (44, 0.90, None), (58, 0.95, None), (59, 0.95, 59)],
)
def test_which_value_bounds_the_95th_percentile(trials, confidence, rank):
    assert proportions.percentile_rank(trials, 0.95, confidence) == rank


SAMPLE = (62, 71, 74, 80, 83, 88, 91, 95, 97, 102, 108, 113, 119, 126, 134, 143, 158, 177, 211, 268)


def test_twenty_recoveries_bound_no_95th_percentile_but_a_median():
    assert proportions.percentile_upper(SAMPLE, 0.95, 0.90) is None
    assert proportions.median_interval(SAMPLE, 6) == (88, 134, pytest.approx(0.9586, abs=1e-4))
    assert proportions.median_interval(SAMPLE, 7) == (91, 126, pytest.approx(0.8847, abs=1e-4))
