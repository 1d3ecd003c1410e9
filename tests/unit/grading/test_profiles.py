"""Profiles are read strictly: what cannot decide anything is refused with its place."""

from pathlib import Path

import pytest

from chaos.catalog import Catalog
from chaos.criteria.recovery import Recovery
from chaos.errors import ProfileError
from chaos.grading.profiles import find_profile, load_profile, read_profile, thresholds_of
from chaos.grading.quantities import in_unit

CRITERIA = Catalog.installed().criteria
GOOD = """\
profile: mine
title: My profile
criteria:
  - criterion: recovery
    signs: true
    within: {limit: 5 min, source: "contract 4.2", sane: [1 s, 1 h]}
    share: 90 %
    does_not_show:
      - Nothing about nights.
does_not_show:
  - Nothing about weekends.
"""


def read(text):
    return read_profile(text, "mine.yaml", CRITERIA)


def test_a_profile_fills_thresholds_and_options():
    profile = read(GOOD)
    (requirement,) = profile.requirements

    assert (profile.name, profile.title, requirement.signs) == ("mine", "My profile", True)
    assert isinstance(requirement.criterion, Recovery)
    assert str(requirement.criterion.within) == "<= 300 s"
    assert requirement.criterion.within.source == "contract 4.2"
    assert str(requirement.criterion.share) == "90 %"
    assert profile.does_not_show == ("Nothing about weekends.", "Nothing about nights.")


def test_the_digest_is_that_of_the_file():
    assert read(GOOD).digest != read(GOOD + "# changed\n").digest


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("limit: 5 min", "limit: 300", 6, "300 has no unit"),
        ("limit: 5 min", "limit: 300 GB", 6, "is not in s"),
        ("limit: 5 min", "limit: fast", 6, "has no unit"),
        ("limit: 5 min", "limit: 2 h", 6, "outside of its sane range"),
        ("limit: 5 min", "limit: -1 s", 6, "outside of its sane range"),
        ('source: "contract 4.2"', 'source: ""', 6, "must be a text"),
        ('source: "contract 4.2", ', "", 6, "must be a text"),
        (", sane: [1 s, 1 h]", "", 6, "two ends"),
        ("within: {limit: 5 min", "within: {limti: 5 min", 6, "unknown key 'limti'"),
        ("    share: 90 %", "    share: 90", 7, "not a percentage"),
        ("    share: 90 %", "    shares: 90 %", 7, "unknown key 'shares'"),
        ("    share: 90 %", "    signs: true", 7, "stands twice"),
        ("criterion: recovery", "criterion: recvery", 4, "unknown criterion 'recvery'"),
        ("    signs: true\n", "", 4, "whether it signs"),
        ("signs: true", "signs: yes", 5, "whether it signs"),
        ("signs: true", "signs: false", 4, "no criterion signs"),
        ("title: My profile\n", "", 1, "must be a text"),
        ("profile: mine", "profile: [mine", 2, "read YAML"),
    ],
)
def test_what_cannot_decide_is_refused_with_file_and_line(old, new, line, why):
    assert old in GOOD
    with pytest.raises(ProfileError) as refusal:
        read(GOOD.replace(old, new))

    assert why in str(refusal.value)
    assert str(refusal.value).startswith("mine.yaml:")
    assert abs(int(str(refusal.value).split(":")[1]) - line) <= 3


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("availability\n    signs: true\n    at_least: {limit: 0 %, source: s, sane: [0 %, 1 %]}", "nothing can fail"),
        ("availability\n    signs: true\n    at_least: {limit: 101 %, source: s, sane: [1 %, 200 %]}", "nothing can pass"),
        ("all_reduce_bandwidth\n    signs: true", "signs without a threshold"),
    ],
)
def test_a_threshold_that_cannot_fail_or_cannot_pass_is_refused(entry, why):
    with pytest.raises(ProfileError, match=why):
        read(f"profile: p\ntitle: t\ncriteria:\n  - criterion: {entry}\n")


def test_an_empty_profile_is_refused():
    for text in ("", "profile: p\ntitle: t\n", "profile: p\ntitle: t\ncriteria: []\n", "- a\n"):
        with pytest.raises(ProfileError):
            read(text)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 min", "s", 300),
        ("300s", "s", 300),
        ("100 ms", "s", 0.1),
        ("5 us", "us", 5),
        ("720 h", "h", 720),
        ("99.995 %", "share", 0.99995),
        ("0.001 %", "relative deviation of the loss", 1e-5),
        ("1e-5 relative deviation of the loss", "relative deviation of the loss", 1e-5),
        ("1 checkpoint intervals", "checkpoint intervals", 1),
    ],
)
def test_numbers_are_brought_to_the_unit_exactly(text, unit, value):
    assert in_unit(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit"), [("300", "s"), (300, "s"), ("5 %", "s"), ("5 s", "share"), ("s", "s"), ("", "s"), (None, "h")]
)
def test_a_number_without_its_unit_is_refused(text, unit):
    with pytest.raises(ValueError, match="write"):
        in_unit(text, unit)


@pytest.mark.parametrize("name", ["quick", "five-star"])
def test_profiles_that_come_along_can_be_loaded_from_anywhere(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profile = load_profile(name, CRITERIA)

    assert profile.name == name
    assert all(threshold.source for r in profile.requirements for _, threshold in thresholds_of(r.criterion))


def test_the_working_folder_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "profiles").mkdir(parents=True)
    (tmp_path / "suites" / "profiles" / "quick.yaml").write_text(GOOD)

    assert find_profile("quick") == Path("suites/profiles/quick.yaml")
    assert load_profile("quick", CRITERIA).name == "mine"


def test_a_profile_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ProfileError, match="five-star, quick"):
        load_profile("qiuck", CRITERIA)


def test_quick_signs_only_what_minutes_can_show():
    informs = {r.criterion.kind for r in load_profile("quick", CRITERIA).requirements if not r.signs}

    assert informs == {"availability", "continuous_run", "detection_time", "all_reduce_bandwidth"}


def test_five_star_holds_the_quoted_figures():
    limits = {
        r.criterion.kind: value.value
        for r in load_profile("five-star", CRITERIA).requirements
        for _, value in thresholds_of(r.criterion)
    }

    assert limits["recovery"] == 300
    assert limits["continuous_run"] == 720
    assert limits["resume_error"] == 1e-5
    assert (limits["jitter"], limits["scaling"]) == (5, 0.93)
    assert "standard" in " ".join(load_profile("five-star", CRITERIA).does_not_show)
