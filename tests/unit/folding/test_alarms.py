"""What counts as an alarm, and what names a culprit."""

import pytest

from chaos.criteria.canaries.recorder import Recorder
from chaos.model.events import WorkloadEnded
from chaos.model.folding.alarms import Strength, alarms, strength


def heard(*told):
    recorder = Recorder()
    for what, data in told:
        recorder.see("node1", what, data, workload="training")
        recorder.at += 1
    return [(alarm.cause.partition(":")[0], alarm.names_culprit) for alarm in alarms(recorder.history())]


@pytest.mark.parametrize(
    ("what", "data", "cause"),
    [
        ("kernel.line", {"text": "NVRM: Xid (PCI:0000:5e:00): 48, DBE"}, "Xid 48"),
        ("kernel.line", {"text": "NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus."}, "Xid 79"),
        ("kernel.line", {"text": "Out of memory: Killed process 1 (a)"}, "out of memory (kernel log)"),
        ("link", {"interface": "rdma0", "carrier": 0}, "link down"),
        ("link", {"interface": "rdma0", "operstate": "down"}, "link down"),
        ("accelerator", {"index": 0, "lost": True}, "accelerator lost"),
        ("accelerator", {"index": 0, "lost": False, "ecc_uncorrected": 1}, "uncorrectable memory error"),
        ("process", {"rank": 0, "state": "T"}, "process frozen"),
        ("process", {"rank": 0, "state": "gone"}, "process gone"),
        ("oom", {"oom_kills": 1}, "out of memory"),
        ("worker.ended", {"local_rank": 0, "exit_status": None, "signal": "SIGKILL"}, "worker killed"),
        ("worker.ended", {"local_rank": 0, "exit_status": -9}, "worker killed"),
        ("gate.out", {"reasons": ["no carrier"]}, "health gate out"),
        ("rank.failed", {"rank": 0, "error": "AcceleratorError", "text": "uncorrectable ECC error"}, "rank error"),
    ],
)
def test_a_cause_names_its_node(what, data, cause):
    assert heard((what, data)) == [(cause, True)]


@pytest.mark.parametrize(
    ("what", "data", "cause"),
    [
        ("kernel.line", {"text": "NVRM: Xid (PCI:0000:5e:00): 45, Ch 00000001"}, "Xid 45"),
        ("rank.failed", {"rank": 0, "error": "RuntimeError", "text": "Connection closed by peer"}, "rank lost its peers"),
        ("rank.failed", {"rank": 0, "error": "DistBackendError", "text": "Watchdog timeout"}, "rank lost its peers"),
        ("worker.ended", {"local_rank": 0, "exit_status": 1, "signal": ""}, "worker ended"),
        ("worker.ended", {"local_rank": 0, "signal": "SIGABRT"}, "worker killed"),
        ("elastic.ended", {"exit_status": 1}, "elastic agent ended"),
    ],
)
def test_a_follower_detects_but_never_names(what, data, cause):
    assert heard((what, data)) == [(cause, False)]


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("kernel.line", {"text": "EDAC MC0: Giving out device"}),
        ("kernel.line", {}),
        ("link", {"interface": "rdma0", "carrier": 1, "operstate": "up"}),
        ("accelerator", {"index": 0, "lost": False, "ecc_uncorrected": 0}),
        ("accelerator", {"index": 0, "lost": None, "ecc_uncorrected": None}),
        ("process", {"rank": 0, "state": "running"}),
        ("process", {"rank": 0, "state": "D"}),
        ("worker.ended", {"local_rank": 0, "exit_status": 0, "signal": ""}),
        ("elastic.ended", {"exit_status": 0}),
        ("gate.in", {}),
    ],
)
def test_what_is_usual_is_no_alarm(what, data):
    assert heard((what, data)) == []


def test_a_counter_that_keeps_its_value_is_no_new_event():
    device = {"index": 0, "lost": False, "ecc_uncorrected": 1}

    assert len(heard(("accelerator", device), ("accelerator", {**device, "temperature": 60}))) == 1


def test_a_sibling_that_is_ended_after_a_victim_names_nobody():
    victim = ("rank.failed", {"rank": 0, "error": "RuntimeError", "text": "Connection closed by peer"})

    assert heard(victim, ("process", {"rank": 1, "state": "gone"})) == [("rank lost its peers", False), ("process gone", False)]


def test_processes_may_go_when_they_have_finished_or_their_load_has_ended():
    assert heard(("rank.finished", {"rank": 0, "step": 9}), ("process", {"rank": 0, "state": "gone"})) == []
    recorder = Recorder()
    recorder.write(WorkloadEnded("training", "stopped", recorder.at))
    recorder.at += 1
    recorder.see("node1", "process", {"rank": 0, "state": "gone"}, workload="training")

    assert alarms(recorder.history()) == ()


def test_a_broken_part_points_stronger_than_a_process():
    recorder = Recorder()
    recorder.see("node1", "link", {"interface": "rdma0", "carrier": 0})
    recorder.see("node1", "process", {"rank": 0, "state": "T"}, after=1)
    link, process = alarms(recorder.history())

    assert (strength(link), strength(process)) == (Strength.PART, Strength.PROCESS)
