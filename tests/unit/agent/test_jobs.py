"""Long work on a node is found again by its name, whatever became of the daemon that started it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from agent_session import Node, gone, until

from chaos.agent.archive import archive

EVENTS = 'echo \'{"what": "step", "n": %s}\' >> $CHAOS_EVENTS'


@pytest.fixture
def node(tmp_path):
    there = Node(tmp_path)
    yield there
    there.end()


def sh(script, **fields):
    return {"name": "training", "argv": ["sh", "-c", script], **fields}


def lines(session):
    return [event["body"]["line"] for event in session.events if event["kind"] == "job.line"]


def test_a_job_is_found_again_after_the_daemon_was_killed_and_no_line_is_lost_or_told_twice(node):
    first = node.session()
    begun = first.do("start", **sh(f"{EVENTS % 1}; exec sleep 60"))
    first.event("job.line")
    place, events = node.home / "watches" / "lines-training.place", node.home / "jobs" / "training" / "events"
    until(lambda: place.read_text().split()[1] == str(events.stat().st_size))  # killed before that, the line would come twice
    first.kill_daemon()
    with events.open("a") as file:
        file.write('{"what": "step", "n": 2}\n')

    second = node.session()
    found = second.do("job", name="training")
    second.event("watch.gap", watch="lines-training")
    until(lambda: '{"what": "step", "n": 2}' in lines(second))

    assert (found["is_running"], found["pid"]) == (True, begun["pid"])
    assert lines(second) == ['{"what": "step", "n": 1}', '{"what": "step", "n": 2}']
    assert [event["sequence"] for event in second.events] == list(range(1, len(second.events) + 1))
    assert not second.do("stop", name="training", grace=1.0)["is_running"]


def test_an_exit_status_is_kept_though_nobody_was_there(node):
    first = node.session()
    first.do("start", **sh("echo last words; sleep 0.3; exit 7"))
    first.kill_daemon()

    second = node.session()
    state = until(lambda: (seen := second.do("job", name="training"))["exit_status"] is not None and seen)

    assert (state["exit_status"], state["output_tail"], state["is_running"]) == (7, "last words\n", False)


def test_starting_what_runs_leaves_it_as_it_is(node):
    session = node.session()

    assert session.do("start", **sh("exec sleep 60"))["pid"] == session.do("start", **sh("exec sleep 60"))["pid"]


def test_a_job_started_again_does_not_tell_old_lines_again(node):
    session = node.session()
    for number in (1, 2):
        session.do("start", **sh(f"{EVENTS % number}; exec sleep 60"))
        until(lambda: len(lines(session)) == number)  # noqa: B023
        session.do("stop", name="training", grace=1.0)

    assert lines(session) == ['{"what": "step", "n": 1}', '{"what": "step", "n": 2}']


def test_files_arguments_and_environment_know_the_home(node):
    given = sh(
        'cat {home}/jobs/training/words; echo "$WHERE"; pwd',
        environment={"WHERE": "{home}/x"},
        files=[{"path": "{home}/jobs/training/words", "content": "words\n", "mode": 0o600}],
    )
    session = node.session()
    session.do("start", **given)
    state = until(lambda: (seen := session.do("job", name="training"))["exit_status"] is not None and seen)

    assert state["output_tail"].splitlines() == ["words", f"{node.home}/x", f"{node.home}/jobs/training"]


def test_a_program_that_is_not_there_ends_as_the_shell_says(node):
    session = node.session()
    state = session.do("start", name="training", argv=["/no/such/program"])
    state = until(lambda: (seen := session.do("job", name="training"))["exit_status"] is not None and seen)

    assert (state["exit_status"], "cannot be started" in state["output_tail"]) == (127, True)


def test_a_job_that_was_never_started_is_not_there(node):
    state = node.session().do("job", name="nobody")

    assert (state["exists"], state["is_running"], state["exit_status"]) == (False, False, None)


def test_stopping_ends_workers_whose_launcher_was_killed(node, tmp_path):
    session = node.session()
    session.do("start", **sh(f"setsid sh -c 'echo $$ > {tmp_path}/worker; sleep 60; true' & wait"))
    worker = int(until(lambda: (tmp_path / "worker").exists() and (tmp_path / "worker").read_text()))
    os.kill(session.do("job", name="training")["pid"], signal.SIGKILL)
    until(lambda: not session.do("job", name="training")["is_running"])
    assert not gone(worker)

    session.do("stop", name="training", grace=0.5)

    assert gone(worker)


def test_a_program_spawned_by_a_fault_is_stopped_by_its_name(node):
    session = node.session()
    spawn = {"act": "spawn", "name": "hog", "argv": ["sleep", "60"]}

    assert session.do("perform", act=spawn)["is_done"]
    asked = {"act": "consult", "subject": "spawned", "arguments": {"name": "hog"}}
    assert '"is_running": true' in session.do("perform", act=asked)["stdout"]
    assert session.do("perform", act={"act": "stop", "name": "hog"})["is_done"]
    assert '"is_running": false' in session.do("perform", act=asked)["stdout"]


def test_a_request_that_takes_long_holds_up_no_other(node, tmp_path):
    session, fifo = node.session(), tmp_path / "fifo"
    os.mkfifo(fifo)
    session.send({"id": 1000, "do": "perform", "with": {"act": {"act": "run", "argv": ["cat", str(fifo)], "timeout": 60.0}}})

    assert session.do("ping") == {}
    assert session.do("perform", act={"act": "run", "argv": ["echo", "hi"]})["stdout"] == "hi\n"
    assert 1000 not in session._answers
    fifo.write_text("at last")
    assert until(lambda: session._answers.get(1000))["ok"]["stdout"] == "at last"


@pytest.mark.parametrize(
    "request_", [{"do": "dance"}, {"do": "perform", "with": None}, {"do": "perform", "with": {"act": 3}}, {}]
)
def test_a_request_that_makes_no_sense_is_answered_and_the_session_goes_on(node, request_):
    session = node.session()
    session.send({"id": 1000, **request_})

    assert "error" in until(lambda: session._answers.get(1000))
    assert session.do("ping") == {}


def test_two_sessions_at_once_find_one_daemon(node):
    node.program.write_bytes(archive())
    sessions = [node.session() for _ in range(3)]

    assert len({session.hello["pid"] for session in sessions}) == 1


def test_the_daemon_rests_while_nothing_happens(node):
    session = node.session()
    session.do("watch", name="k", kind="kernel_log", arguments={"path": str(node.place / "kmsg")})
    session.do("watch", name="l", kind="link", arguments={"interface": "lo"})
    session.do("watch", name="n", kind="nvml", arguments={})
    stat = Path(f"/proc/{session.hello['pid']}/stat")

    def ticks():
        return sum(map(int, stat.read_text().rpartition(")")[2].split()[11:15]))

    before = ticks()
    time.sleep(1.0)

    assert ticks() - before <= 6, "ticks of 10 ms in 1 s; 1 % of a core would be one, and a busy machine is no fault of ours"
