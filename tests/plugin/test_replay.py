"""A finished run is graded from its record alone; what the record does not hold is missing evidence, not a pass."""

from dataclasses import replace

import pytest
from recorded_run import record

from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run
from chaos.model.history import History

pytest_plugins = ["pytester"]

KILLED = GOOD_DRILLS[0]
ACCEPTANCE = ("--replay", "-q")
DRILL = """
import pytest
from chaos.criteria.recovery import Recovery
from chaos.faults.job.rank_killed import RankKilled

@pytest.mark.drill
@pytest.mark.each_node(role="compute")
def test_recovers(drill, training, node):
    with drill.under(training) as job:
        assert job.checkpoint_interval == 10
        incident = drill.strike(RankKilled(), on=node)
    incident.must(Recovery())
"""


@pytest.fixture
def certificate(pytestconfig):
    """The project's own acceptance suite."""
    return (pytestconfig.rootpath / "suites" / "acceptance" / "test_certificate.py").read_text()


def run_of(pytester, *drills) -> str:
    return str(record(quick_run(drills), pytester.path / "run").path)


def test_a_good_run_passes_its_profile(suite, certificate, pytester):
    result = suite(certificate, *ACCEPTANCE, "--run", run_of(pytester, *GOOD_DRILLS))

    result.assert_outcomes(passed=22, skipped=3)


def test_a_recovery_that_never_came_fails_its_criterion_and_its_drill(suite, certificate, pytester):
    result = suite(certificate, *ACCEPTANCE, "--run", run_of(pytester, replace(KILLED, recovers=False)), "-rf")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        ["FAILED *test_the_cluster_meets_the_criterion?recovery?*", "FAILED *test_training_makes_progress_again*drill-01*"]
    )


def test_a_run_without_a_record_fails_at_collection(suite, certificate, pytester):
    result = suite(certificate, *ACCEPTANCE, "--run", str(pytester.path))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*read the ledger*"])


def test_a_drill_that_the_record_does_not_hold_is_broken_not_passed(suite, pytester, allure_results):
    options = ("--replay", "--run", run_of(pytester, KILLED), "-p", "allure_pytest.plugin", "--alluredir", "allure")

    result = suite(DRILL, *options)

    result.assert_outcomes(failed=2)
    assert {told["status"] for told in allure_results().values()} == {"broken"}
    result.stdout.fnmatch_lines(["*the record has no such drill*"])


def test_a_drill_that_the_record_holds_is_read(suite, pytester):
    folder = record(named(quick_run((KILLED,)), "gpu001-job.rank_killed(local_rank=0)"), pytester.path / "run")

    suite(DRILL, "--replay", "--run", str(folder.path), "-k", "gpu001").assert_outcomes(passed=1, deselected=1)


def named(history: History, drill: str) -> History:
    """The history of one drill under another name."""

    def renamed(body):
        fields = [name for name in ("drill", "injection") if getattr(body, name, "") == "drill-01"]
        return replace(body, **dict.fromkeys(fields, drill))

    return History(tuple(replace(event, body=renamed(event.body)) for event in history.events), history.series)


def test_a_dry_run_says_what_it_would_do_and_touches_nothing(suite):
    result = suite(DRILL, "--chaos-dry-run", "-rs")

    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*would inject job.rank_killed(local_rank=0) on gpu001*"])


def test_an_answer_that_nobody_gave_is_broken_and_a_bad_one_is_failed(suite, pytester, pytestconfig, allure_results):
    text = (pytestconfig.rootpath / "suites" / "qualification" / "test_vendor.py").read_text()
    options = ("--replay", "--run", run_of(pytester, KILLED), "-p", "allure_pytest.plugin", "--alluredir", "allure")

    suite(text, *options, "-k", "network or exact")

    statuses = {name.partition(" (")[0]: told["status"] for name, told in allure_results().items()}
    assert statuses == {"The training network is up": "broken", "An all reduce over all nodes is exact": "passed"}
