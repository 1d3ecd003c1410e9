"""One drill can be graded while the run still goes on."""

from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run, with_drill
from chaos.criteria.recovery import Recovery
from chaos.model.folding.incidents import incident
from chaos.model.folding.timelines import timelines
from chaos.model.verdicts import Outcome


def test_a_drill_of_a_run_that_goes_on_is_graded_by_itself():
    running = quick_run(GOOD_DRILLS[:3], is_closed=False)

    assert Recovery().grade(running).outcome is Outcome.INCONCLUSIVE
    part = incident(running, "drill-02")
    assert [line.drill for line in timelines(part)] == ["drill-02"]
    assert Recovery().grade(part).outcome is Outcome.PASS


def test_what_failed_fails_by_itself_too():
    assert Recovery().grade(incident(with_drill("nic.link_down", recovers=False), "drill-01")).outcome is Outcome.FAIL


def test_a_drill_that_never_was_decides_nothing():
    assert Recovery().grade(incident(quick_run(GOOD_DRILLS[:1]), "drill-09")).outcome is Outcome.INCONCLUSIVE
