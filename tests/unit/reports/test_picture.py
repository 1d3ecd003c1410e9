"""A picture of a recovery shows phases in order on one scale, tells missing from not needed, and is a whole SVG by itself."""

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from chaos.criteria.canaries.quick_run import quick_run
from chaos.model.folding.timelines import timelines
from chaos.model.timeline import Mark, MarkState
from chaos.reports.picture import LEFT, RIGHT, draw, span, svg
from chaos.reports.templating import environment

LINES = {timeline.fault: timeline for timeline in timelines(quick_run())}
KILLED, FLAP = LINES["job.rank_killed"], LINES["nic.flap"]


def with_mark(name: str, **changes):
    return replace(KILLED, marks={**KILLED.marks, name: replace(KILLED.marks[name], **changes)})


def test_phases_follow_each_other_without_gap_from_the_fault_to_full_speed():
    phases = draw(KILLED, 10).phases

    assert phases[0].start == 0
    assert phases[-1].end == pytest.approx(KILLED.since_fault("T11"))
    assert all(first.end == second.start for first, second in pairwise(phases))


def test_a_mark_that_came_before_an_earlier_one_ends_no_phase_of_its_own():
    early = with_mark("T4", at=KILLED.marks["T0"].at + 0.01)

    assert "T4" not in [phase.mark for phase in draw(early, 10).phases]
    assert all(phase.width >= 0 for phase in draw(early, 10).phases)


def test_everything_stays_within_the_picture_even_beyond_its_scale():
    picture = draw(KILLED, 1)

    assert all(LEFT <= phase.x <= phase.x + phase.width <= RIGHT + 0.02 for phase in picture.phases)


def test_missing_and_not_needed_are_never_the_same():
    missing = with_mark("T7", state=MarkState.MISSING, at=None, cause="no rank told of it")

    assert "missing" in svg(environment("en"), missing)
    assert "missing" not in svg(environment("en"), FLAP)
    assert svg(environment("en"), FLAP).count("not needed") == 5


def test_a_fault_that_nobody_saw_take_effect_has_a_picture_that_says_so():
    nothing = {name: Mark(name, MarkState.MISSING, cause="no proof of effect") for name in KILLED.marks}

    assert "no mark was seen after the fault" in svg(environment("en"), replace(KILLED, marks=nothing))


def test_one_scale_holds_all_of_them():
    ends = [line.since_fault(name) or 0 for line in LINES.values() for name in line.marks]

    assert span(LINES.values()) >= max(ends)
    assert span([]) == 1.0


def test_a_drill_that_never_recovered_does_not_press_the_others_to_the_edge():
    missed = replace(KILLED, outcome="missed", undone_at=KILLED.marks["T0"].at + 300)

    assert span([*LINES.values(), missed]) == span(LINES.values())
    assert draw(missed, span(LINES.values())).is_cut
    assert "no new step within the limit of" in svg(environment("en"), missed, span(LINES.values()))


def test_the_limit_is_drawn_only_where_the_scale_reaches_it():
    assert draw(KILLED, 10).limit_x is None
    assert draw(KILLED, 100).limit_x is not None


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_it_is_well_formed_by_itself(line):
    root = ET.fromstring(str(svg(environment("en"), line)))

    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_what_a_node_says_is_text_in_it():
    root = ET.fromstring(str(svg(environment("en"), replace(KILLED, node='"><script>alert(1)</script>'))))

    assert [element.tag for element in root.iter() if element.tag.endswith("script")] == []
