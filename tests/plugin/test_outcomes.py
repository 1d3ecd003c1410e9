"""Failed is the cluster, broken is us, skipped is not applicable: in pytest, and in the files that Allure reads."""

pytest_plugins = ["pytester"]

SUITE = """
from dataclasses import replace
import pytest
from chaos.model.verdicts import *
from chaos.pytest_plugin.outcomes import must

VERDICT = Verdict(
    "recovery", "Training recovers", Outcome.PASS, Measurement(312.0, 312.0, 312.0, "s"),
    Threshold(300, "s", "<=", "a source", 1, 3600), Strength.OBSERVED, Coverage(2, 1, "drills", ("drill-02",)),
    "It took 312 s.", family="recovery",
)
pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.name)
def test_outcome(outcome):
    must(replace(VERDICT, outcome=outcome))


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.name)
def test_beside(outcome):
    must(replace(VERDICT, outcome=outcome, signs=False))
"""


STATUSES = {"PASS": "passed", "FAIL": "failed", "INCONCLUSIVE": "broken", "INVALID": "broken", "NOT_APPLICABLE": "skipped"}


def test_each_outcome_has_its_status_and_its_words_in_allure(suite, allure_results, pytester):
    suite(SUITE, "-p", "allure_pytest.plugin", "--alluredir", "allure")
    told = allure_results()
    words = {name: result.get("statusDetails", {}).get("message", "") for name, result in told.items()}

    assert {name: told[f"Outcome ({name})"]["status"] for name in STATUSES} == STATUSES
    assert "CriterionNotMet: It took 312 s.\n  measured 312 s, limit <= 300 s" in words["Outcome (FAIL)"]
    assert "chaos.errors.Inconclusive" in words["Outcome (INCONCLUSIVE)"]
    assert "1 of 2 drills; missing: drill-02" in words["Outcome (INCONCLUSIVE)"]
    assert "not applicable: It took 312 s." in words["Outcome (NOT_APPLICABLE)"]
    assert {file.name for file in (pytester.path / "allure").iterdir()} >= {
        "categories.json",
        "environment.properties",
        "executor.json",
    }


def test_what_is_printed_beside_never_fails_and_passes_only_when_it_passes(suite):
    suite(SUITE, "-k", "beside").assert_outcomes(passed=1, skipped=4)


def test_without_allure_the_plugin_works_alone(suite):
    suite(SUITE, "-k", "test_outcome").assert_outcomes(passed=1, failed=3, skipped=1)
