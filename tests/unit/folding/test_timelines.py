"""Marks T0..T11 out of what was seen."""

from dataclasses import replace

import pytest

from chaos.criteria.canaries import drill_script as signs
from chaos.criteria.canaries.quick_run import GOOD_DRILLS, never_at_full_speed, quick_run, with_drill
from chaos.criteria.canaries.recorder import Recorder
from chaos.model.events import DrillEnded, InjectionMoved, InjectionState, Observed, RunClosed, WorkloadEnded, WorkloadStarted
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.timeline import MARKS, MarkState

GOOD = {line.fault: line for line in timelines(quick_run())}


def only(history):
    (line,) = timelines(history)
    return line


def changed(history, change):
    """The history with each event's body changed; None takes the event away, and no gap tells of it."""
    recorder = Recorder()
    for event in history.events:
        recorder.at = event.stamp.monotonic
        body = change(event.body)
        if body is not None:
            recorder.write(body)
    return History(recorder.history().events, history.series)


@pytest.mark.parametrize("fault", GOOD)
def test_a_recovery_has_every_mark_that_it_needs(fault):
    assert [name for name in MARKS if GOOD[fault].marks[name].state is MarkState.MISSING] == []
    assert GOOD[fault].outcome == "recovered"


@pytest.mark.parametrize("fault", GOOD)
def test_the_named_node_is_the_struck_one(fault):
    assert GOOD[fault].named_node == GOOD[fault].node


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        ("job.rank_killed", "restart"),
        ("nic.flap", "ride out"),
        ("job.straggler", "degrade"),
        ("host.crash", "replace"),
        ("storage.checkpoint_truncated", "fall back"),
    ],
)
def test_the_way_of_a_recovery_is_read_from_what_happened(fault, path):
    assert GOOD[fault].path == path


def test_marks_of_a_restart_follow_each_other():
    line = GOOD["job.rank_killed"]
    times = [line.since_fault(name) for name in ("T0", "T5", "T6", "T7", "T8", "T9", "T10", "T11")]

    assert times == sorted(times)
    assert line.recovery_seconds == pytest.approx(2.7)
    assert line.since_fault("T1") < 0


def test_a_ride_out_needs_no_restart_and_loses_nothing():
    line = GOOD["nic.flap"]

    assert [line.marks[name].state for name in ("T5", "T6", "T7", "T8")] == [MarkState.NOT_NEEDED] * 4
    assert line.lost_steps == 0
    assert line.recovery_seconds == pytest.approx(1.7)


def test_a_degradation_is_over_when_full_speed_is_reached_after_the_undo():
    line = GOOD["job.straggler"]

    assert line.marks["T3"].cause.startswith("straggler")
    assert line.recovery_seconds == pytest.approx(line.marks["T11"].at - line.undone_at)


def test_lost_work_is_what_was_done_and_not_restored():
    line = GOOD["job.rank_killed"]

    assert (line.highest_step, line.restored_step, line.lost_steps) == (12, 10, 2)


def test_no_proof_of_effect_means_no_fault():
    line = only(with_drill("nic.link_down", has_proof=False))

    assert line.marks["T0"].state is MarkState.MISSING
    assert line.recovery_seconds is None


def test_the_fault_began_when_it_was_applied_not_when_it_was_proven():
    history = with_drill("job.rank_killed")
    moves = {body.state: body.at for _, body in history.of(InjectionMoved)}

    assert only(history).marks["T0"].at == moves[InjectionState.APPLIED] < moves[InjectionState.PROVEN]


def test_a_job_that_stands_still_to_the_end_has_not_recovered():
    line = only(with_drill("nic.flap", recovers=False))

    assert (line.outcome, line.path) == ("missed", "none")
    assert line.marks["T9"].state is MarkState.MISSING


def test_steps_of_a_load_that_the_harness_started_anew_are_no_recovery():
    history = with_drill("job.rank_killed")
    first_of_new_round = next(
        event.sequence for event in history.events if isinstance(event.body, Observed) and event.body.data.get("round") == 1
    )
    started = next(body for _, body in history.of(WorkloadStarted) if body.workload == "training")
    recorder = Recorder()
    for event in history.events:
        recorder.at = event.stamp.monotonic
        if event.sequence == first_of_new_round:
            recorder.write(WorkloadEnded("training", "failed", recorder.at))
            recorder.write(replace(started, at=recorder.at))
        recorder.write(event.body)

    assert only(History(recorder.history().events, history.series)).marks["T9"].state is MarkState.MISSING


def test_a_rank_that_never_came_up_leaves_its_marks_missing():
    line = only(
        changed(
            with_drill("job.rank_killed"),
            lambda body: (
                None if getattr(body, "what", "") == "rank.up" and body.data["round"] == 1 and body.data["rank"] == 5 else body
            ),
        )
    )

    assert line.marks["T6"].state is MarkState.MISSING
    assert line.marks["T9"].state is MarkState.MISSING


def test_a_step_that_one_rank_did_not_end_is_not_done():
    history = with_drill("job.rank_killed")
    loaded = only(history).marks["T8"].at
    rows = {
        name: tuple(row for row in series if not (row.data["rank"] == 3 and row.at > loaded))
        for name, series in history.series.items()
    }

    assert only(History(history.events, rows)).marks["T9"].state is MarkState.MISSING


def test_followers_detect_but_do_not_name():
    line = only(with_drill("job.rank_killed", signs=lambda *_: None))

    assert line.marks["T2"].cause.startswith("rank lost its peers")
    assert line.marks["T3"].state is MarkState.MISSING
    assert line.named_node == ""


def test_another_node_that_looks_like_the_culprit_is_named():
    line = only(with_drill("job.rank_killed", signs=signs.wrong_node, lost_peers=False))

    assert line.named_node != line.node


def test_a_strong_sign_outweighs_an_earlier_weak_one():
    def both(recorder, job, node):
        other = next(name for name in job.nodes if name != node)
        recorder.see(other, "process", {"rank": 0, "state": "gone"}, after=0.01, workload=job.name)
        signs.unplugged(recorder, job, node)

    assert only(with_drill("nic.link_down", signs=both)).named_node == "node4"


def test_full_speed_is_not_reached_at_half_the_pace():
    assert only(never_at_full_speed()).marks["T11"].state is MarkState.MISSING


def test_a_drill_without_its_end_is_unfinished():
    line = only(changed(with_drill("nic.flap"), lambda body: None if isinstance(body, DrillEnded) else body))

    assert line.outcome == "unfinished"


def test_the_next_fault_ends_the_aftermath_of_the_one_before():
    lines = timelines(quick_run(GOOD_DRILLS[:2]))

    assert lines[0].marks["T11"].at < lines[1].marks["T0"].at


def test_a_history_without_drills_has_no_timelines():
    assert timelines(History(())) == ()
    assert timelines(quick_run(())) == ()
    assert quick_run(()).of(RunClosed)
