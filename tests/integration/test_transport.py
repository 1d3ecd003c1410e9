"""The transport over real sshd processes on loopback: nothing is accepted, lost or forgotten in silence."""

from __future__ import annotations

import os
import secrets
import signal
import time
from pathlib import Path

import pytest
from ssh_servers import SSHD, Servers

from chaos.errors import ChaosError, ConnectionLost, HostKeyMismatch, Unreachable, Unsupported
from chaos.model.acts import Consult, Power, Question, Run, Script
from chaos.model.guards import NodeEvent
from chaos.model.nodes import Node, Ssh
from chaos.model.quantities import milliseconds, seconds
from chaos.transport.fleet import SshFleet
from chaos.transport.folding import folded

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(not Path(SSHD).exists() or os.geteuid() != 0, reason="needs root and openssh-server"),
]

BOOT = Question(Consult("boot"), lambda answer: answer.stdout)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory):
    running = Servers(tmp_path_factory.mktemp("sshd"))
    yield running
    running.close()


@pytest.fixture
def fleet():
    made = SshFleet(f"test-{secrets.token_hex(4)}")
    yield made
    for name in list(made._links):
        try:
            made.shell(name).leave()
        except ChaosError:
            continue
    made.close()


def next_of(fleet: SshFleet, kind: str, within: float = 10.0) -> NodeEvent:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        event = fleet.next_event(100 * milliseconds)
        if event is not None and event.kind == kind:
            return event
    raise AssertionError(f"no {kind} within {within} s")


def test_an_unknown_host_key_is_refused_with_advice(servers: Servers, fleet: SshFleet) -> None:
    node = servers.start("127.89.0.2", is_trusted=False)
    outcome = fleet.reach([node])[node.name]
    assert isinstance(outcome, HostKeyMismatch)
    assert "ssh-keyscan" in outcome.todo


def test_another_host_key_than_the_recorded_one_is_refused(servers: Servers, fleet: SshFleet) -> None:
    other = servers.key("another")
    node = servers.start("127.89.0.3", is_trusted=False)
    servers.trust("127.89.0.3", servers.ports["127.89.0.3"], other)
    outcome = fleet.reach([node])[node.name]
    assert isinstance(outcome, HostKeyMismatch)
    assert "another one is recorded" in outcome.why


def test_a_key_that_may_not_log_in_and_a_node_that_is_off_are_both_told(servers: Servers, fleet: SshFleet) -> None:
    node = servers.start("127.89.0.4")
    stranger = servers.key("stranger")
    ssh = Ssh(port=node.ssh.port, identity_files=(str(stranger),), known_hosts=node.ssh.known_hosts, config="/dev/null")
    outcomes = fleet.reach([Node("refused", node.address, ssh=ssh), Node("off", "127.89.0.99", ssh=ssh)])
    assert {name: type(outcome) for name, outcome in outcomes.items()} == {"refused": Unreachable, "off": Unreachable}


def test_acts_are_performed_and_their_failures_are_answers(servers: Servers, fleet: SshFleet) -> None:
    node = servers.start("127.89.0.5")
    shell = fleet.reach([node])[node.name]
    assert not isinstance(shell, ChaosError)
    assert shell.perform(Run(("echo", "$HOME; true"))).stdout == "$HOME; true\n"
    assert (shell.perform(Run(("false",))).exit_status, shell.perform(Run(("false",))).is_done) == (1, False)
    late = shell.perform(Run(("sleep", "30"), timeout=300 * milliseconds))
    assert (late.timed_out, late.is_still_running, late.is_done) == (True, False, False)
    answers = shell.run(Script((Run(("false",)), Run(("true",)))))
    assert len(answers) == 1
    with pytest.raises(Unsupported):
        shell.perform(Power("off"))


def test_a_session_that_is_cut_is_lost_and_never_an_answer(servers: Servers, fleet: SshFleet) -> None:
    node = servers.start("127.89.0.6")
    shell = fleet.reach([node])[node.name]
    assert not isinstance(shell, ChaosError)
    pending = shell.begin(Run(("sleep", "5")), 10 * seconds)
    servers.cut("127.89.0.6")
    with pytest.raises(ConnectionLost):
        shell.finish(pending, "sleep", 10 * seconds)
    assert next_of(fleet, "channel.lost").node == node.name
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        try:
            assert "boot_id" in fleet.shell(node.name).ask(BOOT)
            break
        except ConnectionLost:
            time.sleep(0.3)
    assert next_of(fleet, "channel.restored").body["unobserved_seconds"] > 0


def test_a_node_that_falls_silent_is_lost_within_seconds(servers: Servers, fleet: SshFleet) -> None:
    """What a power cut looks like from here: the connection stands, and nobody answers."""
    node = servers.start("127.89.0.7")
    fleet.reach([node])
    sessions = servers.sessions("127.89.0.7")
    assert sessions
    for pid in sessions:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert "no answer" in str(next_of(fleet, "channel.lost", within=12).body["why"])
    finally:
        for pid in sessions:
            os.kill(pid, signal.SIGCONT)


def test_one_question_to_many_gives_every_node_a_result_or_an_error(servers: Servers, fleet: SshFleet) -> None:
    nodes = [servers.start(f"127.89.1.{number}", has_own_run=True) for number in range(2, 6)]
    fleet.reach(nodes)
    answers = fleet.ask([*(node.name for node in nodes), "nobody"], BOOT)
    assert {name: isinstance(answer, ChaosError) for name, answer in answers.items()} == {
        **{node.name: False for node in nodes},
        "nobody": True,
    }


def test_answers_of_many_nodes_are_folded_and_none_is_missing() -> None:
    error = Unreachable("log in", where="n9", why="timed out")
    assert folded({**{f"n{number}": "ok" for number in range(1, 5)}, "n9": error}) == ("n[1-4]: ok", "n9: Unreachable: timed out")
