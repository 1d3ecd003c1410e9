"""What the agent looks at by itself: a change is told once, and where nobody looked, that is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from agent_session import until
from told import Told, gaps

from chaos.agent import processes
from chaos.agent.homes import Home
from chaos.agent.lines import KernelLog, Lines
from chaos.agent.watcher import Watcher
from chaos.agent.watches import Link, Processes


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def home(tmp_path):
    return Home(str(tmp_path / "home"))


@pytest.fixture
def kmsg(tmp_path):
    path = tmp_path / "kmsg"
    path.write_text("6,1,100,-;before anyone looked\n")
    return path


def append(path, text):
    with path.open("a") as file:
        file.write(text)


@pytest.fixture
def log(kmsg, home, told):
    watch = KernelLog("kernel-log", {"path": str(kmsg)}, 0.2, home, told)
    yield watch
    watch.close()


def texts(told):
    return [body["text"] for kind, body in told if kind == "kernel.line"]


def test_the_kernel_log_is_told_from_now_on(log, kmsg, told):
    append(kmsg, "3,2,200,-;NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.\n")
    log.look()
    log.look()

    words = "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus."
    assert told == [("kernel.line", {"text": words, "priority": 3, "sequence": 2, "injected": False})]


def test_a_line_is_told_when_it_is_whole(log, kmsg, told):
    append(kmsg, "6,2,200,-;half a ")
    log.look()
    assert told == []
    append(kmsg, "line\n")
    log.look()

    assert texts(told) == ["half a line"]


def test_a_line_that_a_drill_wrote_is_marked(log, kmsg, told):
    append(kmsg, "3,2,200,-;NVRM: Xid 79 [chaos 7f3a]\n")
    log.look()

    assert [body["injected"] for _, body in told] == [True]


def test_missing_records_are_counted(log, kmsg, told):
    append(kmsg, "6,2,200,-;a\n6,3,200,-;b\n6,7,200,-;c\n")
    log.look()

    assert texts(told) == ["a", "b", "c"]
    assert [gap["lost"] for gap in gaps(told)] == [3]


def test_the_facility_is_taken_off_the_priority_and_continuations_belong_to_their_record(log, kmsg, told):
    append(kmsg, "30,2,200,-,caller=T1;words; with, more\n SUBSYSTEM=pci\n DEVICE=+pci:0000:17:00.0\n")
    log.look()

    assert told == [("kernel.line", {"text": "words; with, more", "priority": 6, "sequence": 2, "injected": False})]


@pytest.mark.parametrize(
    ("line", "priority", "text"),
    [
        ("<3>[   12.5] nvme0: I/O timeout", 3, "nvme0: I/O timeout"),
        ("plain words", None, "plain words"),
        ("6,x,9,-;odd", None, "6,x,9,-;odd"),
    ],
)
def test_other_forms_of_lines_are_told_with_what_is_known_of_them(log, kmsg, told, line, priority, text):
    append(kmsg, f"{line}\n")
    log.look()

    assert told == [("kernel.line", {"text": text, "priority": priority, "sequence": None, "injected": False})]


def test_a_rotated_file_is_read_to_its_end_and_the_new_one_from_its_start(log, kmsg, told):
    append(kmsg, "6,2,200,-;last of the old\n")
    kmsg.rename(kmsg.with_suffix(".1"))
    kmsg.write_text("6,3,300,-;first of the new\n")
    log.look()

    assert texts(told) == ["last of the old", "first of the new"]
    assert [gap["why"] for gap in gaps(told)] == ["the file was rotated or cut"]


def test_a_cut_file_is_a_gap(log, kmsg, told):
    os.truncate(kmsg, 0)
    log.look()
    append(kmsg, "6,9,300,-;after\n")
    log.look()

    assert (texts(told), len(gaps(told))) == (["after"], 1)


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path, home, told):
    watch = KernelLog("k", {"path": str(tmp_path / "later")}, 0.2, home, told)
    watch.look()
    (tmp_path / "later").write_text("6,1,1,-;hello\n")
    watch.look()
    watch.close()

    assert texts(told) == ["hello"]


def test_lines_are_told_from_the_start(tmp_path, home, told):
    (tmp_path / "out").write_bytes(b"one\n\xff two\nthr")
    watch = Lines("out", {"path": str(tmp_path / "out"), "job": "training"}, 0.2, home, told)
    watch.look()
    watch.close()

    assert told == [("job.line", {"job": "training", "line": "one"}), ("job.line", {"job": "training", "line": "\ufffd two"})]


def test_a_later_watch_of_the_same_name_goes_on_where_the_first_ended(tmp_path, home, told):
    path = tmp_path / "out"
    path.write_text("one\ntw")
    for text in ("o\n", "three\n"):
        watch = Lines("out", {"path": str(path)}, 0.2, home, told)
        watch.look()
        watch.close()
        append(path, text)
    watch = Lines("out", {"path": str(path)}, 0.2, home, told)
    watch.look()
    watch.close()

    assert [body["line"] for _, body in told] == ["one", "two", "three"]


@pytest.fixture
def dummy():
    """Makes an interface in a network namespace that goes with the test; sysfs of another namespace needs its own mount."""
    script = "mount -t sysfs s /sys && ip link add rdma0 type veth peer name far && ip link set rdma0 up && ip link set far up"
    words = ["unshare", "-nm", "sh", "-c", f"{script} && echo ready && exec cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as holder:
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("needs root to make a network namespace")
        yield holder.pid


def test_a_link_tells_its_state_and_each_change(dummy, home, told, monkeypatch):
    read = open

    def inside(path, *rest):
        return read(f"/proc/{dummy}/root{path}", *rest)

    monkeypatch.setattr("chaos.agent.consult.open", inside, raising=False)
    watch = Link("link-rdma0", {"interface": "rdma0"}, 0.2, home, told)
    until(lambda: watch.look() or (told[-1][1]["operstate"], told[-1][1]["carrier"]) == ("up", 1))
    told.take()
    subprocess.run(["nsenter", "-t", str(dummy), "-n", "ip", "link", "set", "far", "down"], check=True)
    until(lambda: watch.look() or told)

    assert (told[-1][1]["carrier"], told[-1][1]["operstate"]) == (0, "lowerlayerdown")
    subprocess.run(["nsenter", "-t", str(dummy), "-n", "ip", "link", "del", "rdma0"], check=True)
    until(lambda: watch.look() or told[-1][1]["operstate"] == "absent")


def test_an_interface_that_is_not_there_is_absent(home, told):
    Link("link", {"interface": "nosuch0"}, 0.2, home, told)

    assert [(body["operstate"], body["carrier_changes"]) for _, body in told] == [("absent", None)]


def test_ranks_are_followed_by_pid_and_start_time(home, told, tmp_path):
    events = Path(home.made("jobs", "training")) / "events"
    with subprocess.Popen(["sleep", "60"]) as rank:
        line = '{"what": "rank.up", "data": {"rank": 3, "pid": %d, "started": %d}}\n'
        events.write_text(line % (rank.pid, processes.started(rank.pid)) + "no json\n" + line % (rank.pid, 1))
        watch = Processes("p", {"job": "training"}, 0.2, home, told)
        until(lambda: watch.look() or [1 for kind, _ in told if kind == "process"])
        assert [body["state"] for _, body in told.take()] == ["gone"]
        for signalled, state in (("-STOP", "T"), ("-CONT", "running"), ("-KILL", "gone")):
            subprocess.run(["kill", signalled, str(rank.pid)], check=True)
            until(lambda: watch.look() or told)
            assert [(body["rank"], body["state"]) for _, body in told.take()] == [(3, state)]
        watch.close()


def test_a_watch_that_breaks_is_a_gap_and_the_others_go_on(tmp_path, home, told, monkeypatch):
    watcher = Watcher(home, told)
    (tmp_path / "out").touch()
    watcher.add("rank", "lines", {"path": str(tmp_path / "out")}, 0.05)
    watcher.add("link", "link", {"interface": "lo"}, 0.05)
    monkeypatch.setattr(Link, "look", lambda self: 1 / 0)
    watcher.start()
    append(tmp_path / "out", "line\n")

    until(lambda: ("job.line", {"job": "rank", "line": "line"}) in told)
    until(lambda: [gap["watch"] for gap in gaps(told)] == ["link"])
    watcher.remove("rank")
    watcher.remove("link")


def test_a_kind_that_nobody_knows_is_refused(home, told):
    with pytest.raises(ValueError, match="aura"):
        Watcher(home, told).add("a", "aura", {}, 1.0)


def test_a_later_watcher_goes_on_with_what_was_watched(tmp_path, home, told):
    (tmp_path / "out").write_text("one\n")
    first = Watcher(home, told)
    first.add("out", "lines", {"path": str(tmp_path / "out")}, 0.05)
    first.add("dropped", "lines", {"path": str(tmp_path / "other")}, 0.05)
    first.remove("dropped")

    later = Watcher(home, told)
    later.resume()

    assert [(gap["watch"], gap["why"]) for gap in gaps(told)] == [("out", "the agent was started again")]
    assert later.count == 1
    for watcher in (first, later):
        watcher.remove("out")
