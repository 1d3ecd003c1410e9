"""The view of one drill shows what the whole record shows of it, and nothing of the others."""

import pytest

from chaos.criteria.canaries.quick_run import quick_run
from chaos.criteria.recovery import Recovery
from chaos.model.events import DrillEnded
from chaos.model.folding.one_drill import only_drill
from chaos.model.folding.soundness import doubts
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.verdicts import Outcome

WHOLE = quick_run()
LINES = {timeline.drill: timeline for timeline in timelines(WHOLE)}


@pytest.mark.parametrize("drill", LINES)
def test_a_drill_has_the_same_timeline_in_its_view_as_in_the_whole(drill):
    assert timelines(only_drill(WHOLE, drill)) == (LINES[drill],)


@pytest.mark.parametrize("drill", LINES)
def test_the_view_is_whole(drill):
    assert doubts(only_drill(WHOLE, drill)) == ()


def test_a_criterion_grades_one_drill_as_one():
    verdict = Recovery().grade(only_drill(WHOLE, "drill-03"))

    assert verdict.outcome is Outcome.PASS
    assert (verdict.coverage.expected, verdict.coverage.seen) == (1, 1)


def test_a_drill_can_be_graded_while_its_run_still_goes_on():
    running = quick_run(is_closed=False)

    assert Recovery().grade(running).outcome is Outcome.INCONCLUSIVE
    assert Recovery().grade(only_drill(running, "drill-01")).outcome is Outcome.PASS


def test_a_drill_that_did_not_end_is_not_closed_by_looking_at_it():
    unfinished = tuple(event for event in quick_run(is_closed=False).events if not isinstance(event.body, DrillEnded))

    view = only_drill(History(unfinished, WHOLE.series), "drill-11")

    assert view.closing is None
    assert Recovery().grade(view).outcome is Outcome.INCONCLUSIVE


def test_a_drill_that_never_began_is_missing_evidence():
    assert Recovery().grade(only_drill(WHOLE, "drill-99")).outcome is Outcome.INCONCLUSIVE
