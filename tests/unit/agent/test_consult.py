"""What the agent knows of its node: unknown things are None or said to be missing, never zero."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess

import pytest

from chaos.agent import acts, processes
from chaos.agent.homes import Home


@pytest.fixture
def consult(tmp_path):
    def ask(subject, **arguments):
        act = {"act": "consult", "subject": subject, "arguments": arguments}
        answer = acts.perform(act, Home(str(tmp_path)))
        assert answer["is_done"], answer
        return json.loads(answer["stdout"])

    return ask


def test_a_link_has_its_addresses(consult):
    found = consult("link", interface="lo")

    assert (found["exists"], found["is_up"], found["mac"]) == (True, True, "00:00:00:00:00:00")
    assert "127.0.0.1/8" in found["addresses"]
    assert consult("link", interface="nosuch0") == {"exists": False, "interface": "nosuch0"}


def test_a_process_is_known_by_pid_and_start_time(consult):
    started = processes.started(os.getpid())

    found = consult("process", pid=os.getpid(), started=started)

    assert (found["exists"], found["parent"], found["started"]) == (True, os.getppid(), started)
    assert consult("process", pid=os.getpid(), started=started + 1) == {"exists": False, "pid": os.getpid()}


def test_a_zombie_does_not_exist(consult):
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        assert consult("process", pid=child.pid)["exists"] is False


def test_a_process_whose_name_holds_brackets_is_read_right(tmp_path):
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        try:
            assert processes.stat(child.pid)[1] == os.getpid()
        finally:
            child.kill()


def test_a_file_has_size_mode_and_hash(consult, tmp_path):
    (tmp_path / "shard").write_bytes(b"x" * 10)
    (tmp_path / "shard").chmod(0o640)

    found = consult("file", path="{home}/shard")

    assert (found["size"], found["mode"], found["sha256"]) == (10, 0o640, hashlib.sha256(b"x" * 10).hexdigest())
    assert consult("file", path=str(tmp_path / "none"))["exists"] is False


def test_a_boot_has_an_id(consult):
    assert re.fullmatch(r"[0-9a-f-]{36}", consult("boot")["boot_id"])


def test_a_cgroup_without_counters_has_unknown_ones(consult, tmp_path):
    assert consult("cgroup", path=str(tmp_path / "none")) == {
        "exists": False,
        "path": str(tmp_path / "none"),
        "oom_kills": None,
        "limit": "",
        "processes": [],
    }


@pytest.mark.parametrize("name", ["memory.oom_control", "memory.events"])
def test_kills_of_either_cgroup_version_are_counted(consult, tmp_path, name):
    (tmp_path / name).write_text("under_oom 0\noom_kill 3\n")

    assert consult("cgroup", path=str(tmp_path))["oom_kills"] == 3


def test_a_process_has_a_cgroup(consult):
    found = consult("cgroup", pid=os.getpid())

    assert found["path"].startswith(found["root"])


def test_ranks_are_those_that_the_programs_announced_last(consult, tmp_path):
    (tmp_path / "jobs" / "training").mkdir(parents=True)
    lines = [
        '{"what": "rank.up", "data": {"rank": 0, "pid": 1, "started": 1}}',
        "torn {",
        json.dumps({"what": "rank.up", "data": {"rank": 0, "pid": os.getpid(), "started": processes.started(os.getpid())}}),
        '{"what": "rank.up", "data": {"rank": 1, "pid": 999999999, "started": 1}}',
        '{"what": "step", "data": {"rank": 2}}',
    ]
    (tmp_path / "jobs" / "training" / "events").write_text("\n".join(lines) + "\n")

    ranks = {rank["rank"]: rank["state"] for rank in consult("ranks", job="training")["ranks"]}

    assert ranks == {0: "R", 1: "gone"}


def test_a_session_without_a_peer_says_so(consult, tmp_path):
    assert consult("ssh_peer")["interface"] == ""
    (tmp_path / "ssh_connection").write_text("127.0.0.1 50000 127.0.0.1 22")
    assert consult("ssh_peer")["interface"] == "lo"
    (tmp_path / "ssh_connection").write_text("203.0.113.1 50000 203.0.113.2 22")
    assert consult("ssh_peer")["why"] == "no interface has the local address"


def test_nvml_that_is_not_there_is_an_error_and_no_device(consult):
    found = consult("nvml")

    assert found["devices"] == []
    assert "NVML" in found["error"]
