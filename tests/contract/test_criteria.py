"""What every criterion must keep, whoever wrote it."""

from dataclasses import is_dataclass

import pytest

from chaos.catalog import Catalog
from chaos.criteria.thresholds import POSSIBLE, flaw
from chaos.grading.canaries import play_canaries
from chaos.grading.profiles import thresholds_of
from chaos.model.history import History
from chaos.model.verdicts import Outcome

CRITERIA = Catalog.installed().criteria
each = pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))


def test_there_are_criteria():
    assert {"recovery", "availability", "continuous_run", "evidence_coverage", "injections_proven"} <= set(CRITERIA)


@each
def test_it_rejects_the_bad_and_accepts_the_good(criterion):
    (canary,) = play_canaries({criterion.kind: criterion})

    assert canary.barks, canary.why


@each
def test_failed_is_the_cluster_and_broken_is_us(criterion):
    ours = {Outcome.INVALID, Outcome.INCONCLUSIVE}

    assert criterion.rejects_with in (ours if criterion.family == "evidence" else {Outcome.FAIL})


@each
@pytest.mark.parametrize("history", [History(()), History((), {}, ("series",))], ids=["empty", "damaged"])
def test_nothing_never_passes(criterion, history):
    verdict = criterion.known_good()[0].grade(history)

    assert verdict.outcome in {Outcome.INCONCLUSIVE, Outcome.INVALID}


@each
def test_its_verdict_says_what_a_reader_needs(criterion):
    instance, history = criterion.known_good()
    verdict = instance.grade(history)

    assert verdict.criterion == criterion.kind
    assert verdict.sentence.strip()
    assert verdict.threshold is not None
    assert verdict.threshold.source
    assert verdict.evidence
    assert set(verdict.evidence) <= {event.sequence for event in history.events}
    assert verdict.coverage.is_complete
    assert verdict.measured.value is not None


@each
def test_the_same_history_gives_the_same_verdict(criterion):
    instance, history = criterion.known_good()

    assert instance.grade(history) == instance.grade(History(history.events, history.series))


@each
def test_its_own_thresholds_can_decide(criterion):
    assert is_dataclass(criterion)
    instance = criterion()
    for name, threshold in thresholds_of(instance):
        assert flaw(threshold, criterion.__dataclass_fields__[name].metadata[POSSIBLE]) == ""


@each
def test_its_requirement_is_written_down(criterion):
    assert len((criterion.__doc__ or "").split()) > 20
    assert criterion.title
    assert criterion.family
