"""Whatever is killed on a node, what was broken there is mended within its lease, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agent_session import Node, Session, gone, running_below, until

from chaos.agent import processes


@pytest.fixture
def node(tmp_path):
    there = Node(tmp_path)
    yield there
    there.end()


def guard(mark, lease=30.0, deadline=60.0, fence=1, name="g"):
    """A guard whose undo appends a line to a file."""
    act = {"act": "write", "path": str(mark), "content": "undone\n", "append": True}
    return {"id": name, "undo": {"acts": [act], "keep_going": True}, "lease": lease, "deadline": deadline, "fence": fence}


def state_of(session, name="g"):
    return next((each for each in session.do("guards")["guards"] if each["id"] == name), {"state": "gone"})


def test_a_guard_undoes_within_its_lease_though_the_daemon_was_killed(node, tmp_path):
    session = node.session()
    armed = time.monotonic()
    session.do("arm", **guard(tmp_path / "mark", lease=0.5))
    session.kill_daemon()
    assert not (tmp_path / "mark").exists()

    until((tmp_path / "mark").exists)

    assert 0.5 <= time.monotonic() - armed < 5.0
    event = node.session().event("guard.fired")
    assert (event["body"]["guard"], event["body"]["why"], event["body"]["failures"]) == ("g", "the lease ran out", [])


@pytest.mark.parametrize("moment", [0.0, 0.2])
def test_a_guard_that_was_killed_is_revived_and_undoes_once(node, tmp_path, moment):
    session = node.session()
    first = session.do("arm", **guard(tmp_path / "mark", lease=0.5))
    time.sleep(moment)
    os.kill(first["pid"], signal.SIGKILL)

    session.event("guard.fired")

    assert (tmp_path / "mark").read_text() == "undone\n"
    assert state_of(session)["pid"] != first["pid"]


def test_daemon_and_guard_killed_together_are_made_good_by_the_next_session(node, tmp_path):
    session = node.session()
    armed = session.do("arm", **guard(tmp_path / "mark", lease=0.2))
    os.kill(armed["pid"], signal.SIGKILL)
    session.kill_daemon()

    node.session().event("guard.fired")

    assert (tmp_path / "mark").read_text() == "undone\n"


def test_an_undo_that_was_killed_in_its_middle_is_done_again_from_its_start(node, tmp_path):
    script = f"echo begun >> {tmp_path}/begun; test $(wc -l < {tmp_path}/begun) -gt 1 || sleep 60; echo undone >> {tmp_path}/mark"
    given = guard(tmp_path / "unused", lease=0.1)
    given["undo"]["acts"] = [{"act": "run", "argv": ["sh", "-c", script], "timeout": 30.0}]
    session = node.session()
    armed = session.do("arm", **given)
    until(lambda: (tmp_path / "begun").exists() and (tmp_path / "begun").read_text())
    processes.kill([(pid, processes.started(pid)) for pid in processes.descendants(armed["pid"])])

    session.event("guard.fired", failures=[])

    assert ((tmp_path / "begun").read_text(), (tmp_path / "mark").read_text()) == ("begun\n" * 2, "undone\n")


def test_a_renewed_lease_holds_and_the_deadline_ends_it_all_the_same(node, tmp_path):
    session, begun = node.session(), time.monotonic()
    session.do("arm", **guard(tmp_path / "mark", lease=0.4, deadline=0.9))
    while not (tmp_path / "mark").exists():
        session.do("renew", id="g", lease=0.4, fence=1)
        time.sleep(0.05)

    assert time.monotonic() - begun >= 0.9
    assert session.event("guard.fired")["body"]["why"] == "the deadline passed"


def test_a_guard_armed_again_after_it_undid_is_reported_again(node, tmp_path):
    session = node.session()
    for times in (1, 2):
        session.do("arm", **guard(tmp_path / "mark", lease=0.1))
        until(lambda: len([each for each in session.events if each["kind"] == "guard.fired"]) == times)  # noqa: B023

    assert (tmp_path / "mark").read_text() == "undone\n" * 2


def test_a_controller_that_was_replaced_cannot_renew(node, tmp_path):
    session = node.session()
    session.do("arm", **guard(tmp_path / "mark", fence=3))
    session.do("renew", id="g", lease=30.0, fence=4)

    refused = session.ask("renew", id="g", lease=30.0, fence=3)

    assert refused["error"]["name"] == "Refused"
    assert "controller 4" in refused["error"]["text"]


@pytest.mark.parametrize("name", ["", "../up", ".hidden", "a/b"])
def test_a_guard_cannot_be_named_out_of_its_folder(node, tmp_path, name):
    assert node.session().ask("arm", **guard(tmp_path / "mark", name=name))["error"]["name"] == "Refused"


def test_a_guard_that_is_armed_cannot_be_armed_again(node, tmp_path):
    session = node.session()
    session.do("arm", **guard(tmp_path / "mark"))

    assert "is armed already" in session.ask("arm", **guard(tmp_path / "mark"))["error"]["text"]


def another(node):
    """A second process of the guard, as a daemon starts one for a guard that seems dead."""
    return subprocess.Popen([sys.executable, "-S", "-E", str(node.program), "guard", str(node.home), "g"])


def waits_for_the_lock(process):
    return any("->" in line and str(process.pid) in line.split() for line in Path("/proc/locks").read_text().splitlines())


def test_a_disarmed_guard_never_undoes_also_when_it_had_been_revived(node, tmp_path):
    session = node.session()
    session.do("arm", **guard(tmp_path / "mark"))
    with another(node) as second:
        until(lambda: waits_for_the_lock(second))
        assert session.do("disarm", id="g")["state"] == "disarmed"
        assert second.wait(5) == 0

    assert not (tmp_path / "mark").exists()
    assert state_of(session)["state"] == "gone"


def test_a_second_process_of_a_guard_takes_over_when_the_first_dies(node, tmp_path):
    session = node.session()
    first = session.do("arm", **guard(tmp_path / "mark", lease=0.6))
    session.kill_daemon()
    with another(node) as second:
        until(lambda: waits_for_the_lock(second))
        os.kill(first["pid"], signal.SIGKILL)
        assert second.wait(5) == 0

    assert (tmp_path / "mark").read_text() == "undone\n"


def test_a_guard_can_be_told_to_undo_now_also_when_its_process_is_dead(node, tmp_path):
    session = node.session()
    armed = session.do("arm", **guard(tmp_path / "mark"))
    os.kill(armed["pid"], signal.SIGKILL)
    until(lambda: gone(armed["pid"]))

    fired = session.do("fire", id="g")

    assert (fired["state"], fired["why"], (tmp_path / "mark").read_text()) == ("fired", "asked to", "undone\n")


def test_leaving_is_refused_while_a_guard_is_armed(node, tmp_path):
    session = node.session()
    session.do("arm", **guard(tmp_path / "mark"))

    assert session.ask("leave")["error"] == {"name": "Refused", "text": "guards are armed: g"}
    assert session.do("ping") == {}


def test_leaving_leaves_no_process_and_no_file(node, tmp_path):
    session = node.session()
    session.do("start", name="job", argv=["sleep", "60"])
    session.do("perform", act={"act": "spawn", "name": "hog", "argv": ["sh", "-c", "sleep 60 & wait"]})
    session.do("watch", name="n", kind="nvml", arguments={})
    session.do("arm", **guard(tmp_path / "mark"))
    session.do("fire", id="g")
    session.do("leave")
    session.relay.wait(5)

    until(lambda: not node.home.exists())
    until(lambda: not running_below(node.place))


def test_what_was_not_acknowledged_comes_again_in_order_and_what_was_does_not(node):
    first = node.session()
    with (node.place / "log").open("w") as log:
        log.write("".join(f"line {number}\n" for number in range(200)))
    first.do("watch", name="log", kind="lines", arguments={"path": str(node.place / "log")}, period=0.05)
    first.event("job.line", line="line 199")
    first.send({"ack": 120})
    first.do("ping")
    first.close()

    second = node.session()
    second.event("job.line", line="line 199")
    assert second.hello["spool_from"] == 121
    second.kill_daemon()
    third = node.session()
    third.event("watch.gap", watch="log")

    assert [event["sequence"] for event in second.events] == list(range(121, 201))
    assert third.hello["spool_from"] == 121
    assert [event["sequence"] for event in third.events] == list(range(121, 202))


def test_a_socket_that_a_killed_daemon_left_half_made_is_no_obstacle(node):
    node.home.mkdir()
    (node.home / "socket.new").touch()
    (node.home / "socket").touch()

    assert node.session().do("ping") == {}


@pytest.fixture
def apart(tmp_path):
    """A root's view of a node of its own: a sweep looks at the whole machine, which here belongs to others as well."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root to make namespaces")
    places = "/run /dev/shm /sys/fs/cgroup"
    script = f'for place in {places}; do mount -t tmpfs tmpfs $place || exit 9; done; exec "$@"'
    words = ("unshare", "-mn", "--propagation", "private", "sh", "-c", script, "sh")
    home = f"/run/chaos/t{os.getpid()}"
    session = Session(home, tmp_path / "agent.pyz", prefix=words)
    yield session
    session.close()
    for pid in running_below(tmp_path):
        os.kill(pid, signal.SIGKILL)


def swept(session, tmp_path, *words):
    """What the archive alone says, run on the node by hand."""
    inside = ["nsenter", "-t", str(session.hello["pid"]), "-m", "-n"]
    argv = [*inside, sys.executable, "-S", "-E", str(tmp_path / "agent.pyz"), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)


def test_the_archive_alone_finds_and_undoes_what_a_run_left(apart, tmp_path):
    apart.do("arm", **guard(tmp_path / "mark"))
    apart.do("perform", act={"act": "spawn", "name": "hog", "argv": ["sleep", "60"]})
    apart.do("perform", act={"act": "run", "argv": ["nft", "add", "table", "inet", "chaos_t"], "accepts": [0, 1, 127]})
    apart.do("perform", act={"act": "write", "path": "/sys/fs/cgroup/a/chaos-g/x", "content": ""})
    apart.do("perform", act={"act": "remove", "path": "/sys/fs/cgroup/a/chaos-g/x"})
    apart.do("perform", act={"act": "write", "path": "/sys/fs/cgroup/chaos-lab/lab/chaos-g", "content": ""})
    name = apart.home.name

    found = swept(apart, tmp_path, "sweep")
    tables = [line for line in found.stdout.splitlines() if line.startswith("table")]
    assert [line for line in found.stdout.splitlines() if line not in tables] == [
        "guard g (armed)",
        "program hog",
        f"run {name}",
        "cgroup /sys/fs/cgroup/a/chaos-g",
    ]
    assert (found.returncode, tables in ([], ["table inet chaos_t"])) == (1, True)
    assert swept(apart, tmp_path, "guards").stdout.split()[1:3] == ["g", "armed"]

    daemon = apart.hello["pid"]
    with subprocess.Popen(["nsenter", "-t", str(daemon), "-m", "-n", "cat"], stdin=subprocess.PIPE) as holder:
        until(lambda: Path(f"/proc/{holder.pid}/ns/mnt").readlink() == Path(f"/proc/{daemon}/ns/mnt").readlink())
        removed = swept(apart, tmp_path, "sweep", "--remove")
        apart._hello["pid"] = holder.pid
        again = swept(apart, tmp_path, "sweep")

    assert (removed.stdout, removed.stderr, removed.returncode) == ("clean\n", "", 0)
    assert (again.stdout, again.returncode) == ("clean\n", 0)
    assert (tmp_path / "mark").read_text() == "undone\n"
    assert gone(daemon)
