"""The whole judgement."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaos.catalog import Catalog
from chaos.criteria.canaries.drill_script import spreading
from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run, with_drill
from chaos.criteria.recovery import Recovery
from chaos.grading.judgement import judge
from chaos.grading.profiles import Profile, Requirement, load_profile
from chaos.grading.traces import judge_trace
from chaos.model.history import History
from chaos.model.verdicts import Outcome, Verdict
from chaos.readers.infinitehbd import Fault, Trace

CRITERIA = Catalog.installed().criteria
QUICK = load_profile("quick", CRITERIA)


def outcomes(judgement):
    return {verdict.criterion: verdict.outcome for verdict in judgement.verdicts}


def test_a_good_run_is_accepted():
    judgement = judge(quick_run(), QUICK, CRITERIA)

    assert (judgement.outcome, judgement.exit_code) == (Outcome.PASS, 0)
    assert all(canary.barks for canary in judgement.canaries)
    assert judgement.profile_digest == QUICK.digest


def test_what_only_informs_does_not_decide():
    judgement = judge(quick_run(), QUICK, CRITERIA)

    assert outcomes(judgement)["availability"] is Outcome.INCONCLUSIVE
    assert outcomes(judgement)["continuous_run"] is Outcome.INCONCLUSIVE


def test_the_three_numbers_say_what_they_would_still_need():
    told = {verdict.criterion: verdict.demonstrated for verdict in judge(quick_run(), QUICK, CRITERIA).verdicts}

    assert told["recovery"].still_needed == "34 more drills without a miss show 95 %"
    assert told["availability"].still_needed.endswith("more slot-days without an outage")
    assert "more hours without an interruption show 720 h" in told["continuous_run"].still_needed


@pytest.mark.parametrize(
    ("history", "outcome", "code"),
    [
        (with_drill("nic.link_down", recovers=False), Outcome.FAIL, 1),
        (with_drill("nic.link_down", signs=spreading), Outcome.FAIL, 1),
        (quick_run(GOOD_DRILLS[:2], loss_error=1e-3), Outcome.FAIL, 1),
        (quick_run(wrong=1), Outcome.FAIL, 1),
        (quick_run(ranks_proven=1), Outcome.INVALID, 3),
        (with_drill("nic.link_down", has_proof=False), Outcome.INVALID, 3),
        (with_drill("nic.link_down", control_flags=True), Outcome.INVALID, 3),
        (with_drill("nic.link_down", is_cleared=False), Outcome.INCONCLUSIVE, 3),
        (quick_run(is_closed=False), Outcome.INCONCLUSIVE, 3),
        (History(()), Outcome.INCONCLUSIVE, 3),
    ],
    ids=["missed", "spread", "wrong losses", "wrong sums", "one rank", "no proof", "control", "stuck", "open", "empty"],
)
def test_a_bad_run_is_not_accepted(history, outcome, code):
    judgement = judge(history, QUICK, CRITERIA)

    assert (judgement.outcome, judgement.exit_code) == (outcome, code)


@dataclass(frozen=True, slots=True)
class Asleep(Recovery):
    """A gate that passes everything."""

    kind: ClassVar[str] = "asleep"

    def grade(self, history: History) -> Verdict:
        return Recovery().grade(quick_run())


@dataclass(frozen=True, slots=True)
class Stumbling(Recovery):
    """A gate that stumbles over everything but its canaries."""

    kind: ClassVar[str] = "stumbling"

    def grade(self, history: History) -> Verdict:
        if not history.events:
            raise KeyError("rank")
        return Recovery().grade(history)


def profile(criterion):
    return Profile("p", "t", (Requirement(criterion, signs=True),), (), "0" * 64)


def test_a_canary_that_does_not_bark_voids_the_whole():
    judgement = judge(quick_run(), profile(Asleep()), {"asleep": Asleep})

    assert (judgement.outcome, judgement.exit_code) == (Outcome.INVALID, 3)
    assert "known-bad history is PASS" in judgement.canaries[0].why


def test_a_criterion_that_stumbles_is_in_doubt_and_does_not_crash():
    judgement = judge(History(()), profile(Stumbling()), {"stumbling": Stumbling})

    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert "KeyError" in judgement.verdicts[0].sentence


def test_a_trace_is_graded_on_its_nodes():
    trace = Trace(tuple(Fault(f"n{i}", 10.0, 11.0, "Hardware Failure", "GPU", "DBE") for i in range(3)))
    judgement = judge_trace(trace, 10, 100.0)

    assert (judgement.outcome, judgement.exit_code) == (Outcome.FAIL, 1)
    assert judgement.verdicts[0].measured.value == 1 - 3 / 1000


def test_a_trace_without_down_time_passes():
    trace = Trace((Fault("n", 10.0, 10.0, "Other Failure", "Test", "Test"),))

    assert judge_trace(trace, 10, 100.0).outcome is Outcome.PASS
