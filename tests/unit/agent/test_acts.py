"""Acts on a node: each answer says what became of it, and nothing outlives its deadline unsaid."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agent_session import gone, until

from chaos.agent import acts, guards, processes
from chaos.agent.homes import Home

FREEZER = Path("/sys/fs/cgroup/freezer")


@pytest.fixture
def home(tmp_path):
    return Home(str(tmp_path / "home"))


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def run(*argv, **fields):
    return {"act": "run", "argv": list(argv), **fields}


def test_a_program_gives_its_output_and_its_exit_status(home):
    answer = acts.perform(run("sh", "-c", "cat; echo bad >&2; exit 3", stdin="words"), home)

    assert (answer["stdout"], answer["stderr"], answer["exit_status"]) == ("words", "bad\n", 3)
    assert not answer["is_done"]
    assert acts.perform(run("sh", "-c", "exit 3", accepts=[0, 3]), home)["is_done"]


def test_arguments_reach_a_program_as_they_are(home):
    words = ["$HOME", "a b", ";", "`id`", "*", "{home}/x"]

    answer = acts.perform(run("printf", "%s\n", *words), home)

    assert answer["stdout"].splitlines() == [*words[:-1], f"{home.path}/x"]


def test_a_program_that_a_signal_ended_has_no_exit_status(home):
    answer = acts.perform(run("sh", "-c", "kill -TERM $$"), home)

    assert (answer["signal"], answer["exit_status"], answer["is_done"]) == ("SIGTERM", None, False)


def test_a_program_that_is_not_there_is_an_answer(home):
    answer = acts.perform(run("no-such-program-here"), home)

    assert not answer["is_done"]
    assert "No such file" in answer["error"]


@pytest.mark.parametrize("own_session", ["", "setsid "])
def test_a_deadline_ends_the_program_and_its_grandchildren(home, tmp_path, own_session):
    script = f"{own_session}sh -c 'echo $$ > {tmp_path}/grandchild; sleep 60; true' & echo begun; wait"
    begun = time.monotonic()

    answer = acts.perform(run("sh", "-c", script, timeout=30.0), home, deadline=0.4)

    assert time.monotonic() - begun < 3.0
    assert (answer["timed_out"], answer["is_still_running"], answer["is_done"]) == (True, False, False)
    assert answer["stdout"] == "begun\n"
    assert gone(int((tmp_path / "grandchild").read_text()))


@pytest.mark.skipif(not os.access(FREEZER / "cgroup.procs", os.W_OK), reason="needs a writable freezer of cgroup version 1")
@pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning")  # nobody can wait for it
def test_a_program_that_cannot_be_killed_is_said_to_run_still(home, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_AFTER_KILL", 0.1)
    frozen = FREEZER / f"test{os.getpid()}"
    frozen.mkdir()
    script = f"echo $$ > {tmp_path}/pid; echo $$ > {frozen}/cgroup.procs; echo FROZEN > {frozen}/freezer.state; true"
    try:
        answer = acts.perform(run("sh", "-c", script), home, deadline=0.3)

        assert (answer["timed_out"], answer["is_still_running"]) == (True, True)
    finally:
        (frozen / "freezer.state").write_text("THAWED")
        until(lambda: gone(int((tmp_path / "pid").read_text())))
        until(lambda: not (frozen / "cgroup.procs").read_text())
        frozen.rmdir()


def test_a_file_is_replaced_whole_and_leaves_no_draft(home, tmp_path):
    path = tmp_path / "made" / "file"
    acts.perform({"act": "write", "path": str(path), "content": "old"}, home)
    with path.open() as reader:
        answer = acts.perform({"act": "write", "path": str(path), "content": "new", "mode": 0o600}, home)

        assert answer["is_done"]
        assert (reader.read(), path.read_text(), path.stat().st_mode & 0o777) == ("old", "new", 0o600)
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_file_and_no_draft(home, tmp_path):
    path = tmp_path / "folder"
    (path / "kept").mkdir(parents=True)

    answer = acts.perform({"act": "copy", "source": str(tmp_path / "none"), "target": str(path / "copy")}, home)

    assert "No such file" in answer["error"]
    assert [entry.name for entry in path.iterdir()] == ["kept"]


def test_a_fifo_is_written_to_and_stays_one(home, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    acts.perform({"act": "write", "path": str(fifo), "content": "line\n"}, home)

    assert os.read(reader, 100) == b"line\n"
    assert fifo.is_fifo()
    os.close(reader)


def test_removing_what_is_gone_is_done(home, tmp_path):
    assert acts.perform({"act": "remove", "path": str(tmp_path / "gone")}, home)["is_done"]


def test_a_removed_link_leaves_what_it_leads_to(home, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")

    assert acts.perform({"act": "remove", "path": str(tmp_path / "link")}, home)["is_done"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


def test_a_copy_and_a_cut(home, tmp_path):
    (tmp_path / "shard").write_bytes(b"0123456789")

    acts.perform({"act": "copy", "source": str(tmp_path / "shard"), "target": "{home}-backup"}, home)
    acts.perform({"act": "truncate", "path": str(tmp_path / "shard"), "size": 4}, home)

    assert (tmp_path / "shard").read_bytes() == b"0123"
    assert Path(f"{home.path}-backup").read_bytes() == b"0123456789"


def test_a_signal_reaches_the_process_that_is_meant(home, sleeper):
    act = {"act": "signal", "pid": sleeper.pid, "started": processes.started(sleeper.pid), "signal": "SIGTERM"}

    assert acts.perform(act, home)["is_done"]
    assert sleeper.wait(5) == -signal.SIGTERM


def test_a_process_with_another_start_time_is_left_alone(home, sleeper):
    act = {"act": "signal", "pid": sleeper.pid, "started": processes.started(sleeper.pid) - 1, "signal": "SIGKILL"}

    assert acts.perform(act, home)["is_done"]
    refused = acts.perform({**act, "gone_is_done": False}, home)

    assert (refused["is_done"], sleeper.poll()) == (False, None)
    assert "is gone" in refused["error"]


@pytest.mark.parametrize(
    "act",
    [
        {},
        {"act": "hypnotise"},
        {"act": "run"},
        {"act": "run", "argv": 7},
        {"act": "run", "argv": []},
        {"act": "run", "argv": ["true"], "environment": None},
        {"act": "signal", "pid": 1, "started": 0, "signal": "SIGNONE"},
        {"act": "write", "path": 3, "content": ""},
        {"act": "consult", "subject": "weather"},
        {"act": "consult", "subject": "process", "arguments": {}},
        {"act": "power", "action": "crash"},
    ],
    ids=str,
)
def test_an_act_that_makes_no_sense_is_an_answer_too(home, act):
    answer = acts.perform(act, home)

    assert (answer["is_done"], answer["exit_status"]) == (False, None)
    assert answer["error"]


def test_acts_end_at_the_first_that_failed_unless_told_to_go_on(home):
    three = [run("true"), run("false"), run("true")]

    assert [answer["is_done"] for answer in acts.perform_all(three, False, home)] == [True, False]
    assert [answer["is_done"] for answer in acts.perform_all(three, True, home)] == [True, False, True]


def test_an_undo_goes_on_past_a_malformed_act_and_says_which_failed(home, tmp_path, monkeypatch):
    monkeypatch.setattr(guards, "_BETWEEN_TRIES", 0.0)
    mark = str(tmp_path / "undone")
    script = {
        "acts": [{"act": "signal", "pid": 1, "started": 0, "signal": "SIGNONE"}, {"act": "write", "path": mark, "content": ""}]
    }

    assert ["malformed" in words for words in guards.undo(script, home)] == [True]
    assert Path(mark).exists()


def test_an_undo_tries_again_what_failed_and_only_that(home, tmp_path, monkeypatch):
    monkeypatch.setattr(guards, "_BETWEEN_TRIES", 0.0)
    once = run("sh", "-c", f"echo >> {tmp_path}/once")
    later = run("sh", "-c", f"echo >> {tmp_path}/later; test $(wc -l < {tmp_path}/later) -ge 3")

    assert guards.undo({"acts": [once, later]}, home) == []
    assert [len((tmp_path / name).read_text()) for name in ("once", "later")] == [1, 3]


def test_ending_a_tree_ends_what_ignores_the_polite_signal_and_what_is_stopped(tmp_path):
    code = (
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); os.fork(); open('{}/%d' % os.getpid(), 'w'); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-S", "-E", "-c", code.format(tmp_path)]) as process:
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        pids = [int(path.name) for path in tmp_path.iterdir()]
        os.kill(process.pid, signal.SIGSTOP)

        assert processes.end_tree(process.pid, processes.started(process.pid), 0.1)
        assert [gone(pid) for pid in pids] == [True, True]
