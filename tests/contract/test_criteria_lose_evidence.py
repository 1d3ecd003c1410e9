"""The first law: missing evidence never passes.

Taking evidence away may turn a pass into doubt, and a failure into doubt; it never turns anything into a pass that was none.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaos.catalog import Catalog
from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run, with_drill
from chaos.criteria.canaries.recorder import Recorder
from chaos.model.events import Attached, NodeLost, Observed
from chaos.model.history import History
from chaos.model.verdicts import Outcome

CRITERIA = Catalog.installed().criteria
KINDS = sorted(CRITERIA)
WATCHED = ("link", "accelerator", "kernel.line", "process", "rank.up", "rank.loaded", "rank.communicator", "rendezvous.done")
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

BAD = {kind: criterion.known_bad() for kind, criterion in CRITERIA.items()}
GOOD = {kind: criterion.known_good() for kind, criterion in CRITERIA.items()}


def without(history: History, lost) -> History:
    return History(tuple(event for event in history.events if not lost(event)), history.series, history.damaged)


@FEW
@given(st.sampled_from(KINDS), st.data())
def test_lost_events_never_make_a_pass(kind, data):
    instance, history = BAD[kind]
    lost = data.draw(st.sets(st.integers(1, len(history.events)), min_size=1, max_size=40))

    assert instance.grade(without(history, lambda event: event.sequence in lost)).outcome is not Outcome.PASS


@FEW
@given(st.sampled_from(KINDS), st.data())
def test_a_record_that_ends_early_never_passes(kind, data):
    instance, history = GOOD[kind]
    last = data.draw(st.integers(0, len(history.events) - 1))

    assert instance.grade(without(history, lambda event: event.sequence > last)).outcome is not Outcome.PASS


@FEW
@given(st.sampled_from(KINDS), st.data())
def test_a_record_with_a_hole_never_passes(kind, data):
    instance, history = GOOD[kind]
    lost = data.draw(st.integers(1, len(history.events)))

    assert instance.grade(without(history, lambda event: event.sequence == lost)).outcome is not Outcome.PASS


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_or_shortened_series_never_passes(kind):
    instance, history = GOOD[kind]
    names = tuple(name for name, rows in history.series.items() if rows)
    if not names:
        pytest.skip("its known-good history has no series")

    damaged = History(history.events, {name: history.series[name] for name in names[1:]}, names[:1])
    shortened = History(history.events, {**history.series, names[-1]: history.series[names[-1]][:-1]})

    assert instance.grade(damaged).outcome is not Outcome.PASS
    assert instance.grade(shortened).outcome is not Outcome.PASS


def renumbered(history: History, lost) -> History:
    """As if what is lost had never been sent: no gap in the numbers gives it away."""
    recorder = Recorder()
    for event in history.events:
        recorder.at = event.stamp.monotonic
        if not lost(event):
            recorder.write(event.body)
    return History(recorder.history().events, history.series)


@pytest.mark.parametrize("what", WATCHED)
def test_a_stream_that_was_never_sent_is_named_by_the_coverage_or_by_the_marks(what):
    whole = quick_run(GOOD_DRILLS)
    cut = renumbered(whole, lambda event: isinstance(event.body, Observed) and event.body.what == what)
    signing = ("recovery_marks", "evidence_coverage", "localisation", "blast_radius", "recovery", "lost_work")
    outcomes = {kind: CRITERIA[kind]().grade(cut).outcome for kind in signing}

    if what in {"accelerator", "kernel.line", "process"}:
        # Another stream tells the same story: what is left must still be true.
        assert Outcome.FAIL not in outcomes.values()
    else:
        assert any(outcome is not Outcome.PASS for outcome in outcomes.values())


@pytest.mark.parametrize("node", ["node1", "node3", "spare1"])
def test_a_node_whose_agent_never_spoke_is_missing_evidence(node):
    whole = quick_run(GOOD_DRILLS)
    rows = {name: tuple(row for row in series if row.node != node) for name, series in whole.series.items()}
    cut = renumbered(whole, lambda event: getattr(event.body, "node", "") == node and not hasattr(event.body, "drill"))

    verdict = CRITERIA["evidence_coverage"]().grade(History(cut.events, rows))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert node in verdict.sentence + " ".join(text for _, text in verdict.details)


def test_without_any_stream_from_the_agents_nothing_passes_that_is_about_the_cluster():
    whole = quick_run(GOOD_DRILLS)
    cut = renumbered(whole, lambda event: isinstance(event.body, Observed | Attached))
    silent = History(cut.events, {})
    about_drills = ("recovery", "recovery_marks", "localisation", "detection_time", "lost_work", "blast_radius", "resume_error")

    for kind in (*about_drills, "evidence_coverage"):
        assert CRITERIA[kind]().grade(silent).outcome in {Outcome.INCONCLUSIVE, Outcome.INVALID}, kind


def test_a_channel_lost_for_good_is_missing_evidence():
    whole = quick_run(GOOD_DRILLS)
    recorder = Recorder()
    for event in whole.events:
        recorder.at = event.stamp.monotonic
        recorder.write(event.body)
        if event.sequence == 40:
            recorder.write(NodeLost("spare1", recorder.at, "connection reset"))
    verdict = CRITERIA["evidence_coverage"]().grade(History(recorder.history().events, whole.series))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "channels lost for good: spare1" in verdict.sentence


@pytest.mark.parametrize("fault", [script.fault for script in GOOD_DRILLS])
def test_a_fault_that_had_no_effect_is_invalid_whatever_the_job_did(fault):
    history = with_drill(fault, has_proof=False)

    for kind in ("recovery", "recovery_marks", "localisation", "lost_work", "blast_radius", "injections_proven"):
        assert CRITERIA[kind]().grade(history).outcome is Outcome.INVALID, kind
