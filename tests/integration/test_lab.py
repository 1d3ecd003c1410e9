"""The virtual cluster as its users meet it: real logins, real reboots, cables that can be pulled."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
from agent_session import until
from small_lab import is_on, small_lab, ssh, to_supervisor
from typer.testing import CliRunner

from chaos.cli.lab import app
from chaos.errors import CommandFailed
from chaos.lab.lifecycle import down, up, wait_for_ssh

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab():
    plan = small_lab("t", nodes=2, spares=1)
    up(plan)
    yield plan
    down(plan)


def boot_id(lab, node):
    return ssh(lab, node, "cat /proc/sys/kernel/random/boot_id")


def test_one_logs_in_with_the_configuration_that_the_lab_wrote(lab):
    seen = ssh(lab, "node1", "hostname; id -un; /opt/lab/python -c 'import sys; print(sys.version_info[0])'; ls /shared; echo $$")

    assert seen.split()[:3] == ["node1", "root", "3"]


def test_nodes_are_machines_of_their_own_that_share_a_folder(lab):
    ids = {boot_id(lab, node.name) for node in lab.nodes}
    ssh(lab, "node1", "echo words > /shared/file; echo secret > /tmp/own; echo x > /etc/own")

    assert len(ids) == len(lab.nodes)
    assert ssh(lab, "node2", "cat /shared/file; ls /tmp/own /etc/own 2>/dev/null || true") == "words"
    assert not os.path.exists("/etc/own")  # noqa: PTH110


def test_nodes_reach_each_other_by_name_and_over_the_training_network(lab):
    peer = lab.node("node2").training

    assert "SSH-2.0" in ssh(lab, "node1", "bash -c 'exec 3<>/dev/tcp/node2/22; head -1 <&3'")
    assert "SSH-2.0" in ssh(lab, "node1", f"bash -c 'exec 3<>/dev/tcp/{peer}/22; head -1 <&3'")


def test_a_node_that_crashed_boots_as_new(lab):
    before = boot_id(lab, "node1")
    ssh(lab, "node1", "echo x > /var/tmp/lost")
    to_supervisor(lab, "crash", node="node1")
    assert not is_on(lab, "node1")
    to_supervisor(lab, "boot", node="node1")
    wait_for_ssh(lab.node("node1"))

    assert boot_id(lab, "node1") != before
    assert ssh(lab, "node1", "ls /var/tmp/lost 2>/dev/null || true") == ""


def test_a_reboot_from_inside_is_a_reboot(lab):
    before = boot_id(lab, "node1")
    code = "import ctypes; ctypes.CDLL(None).reboot(0x01234567)"
    words = ["ssh", "-F", f"{lab.state}/ssh_config", "-o", "ServerAliveInterval=1", "node1", f"python3 -S -c '{code}'"]
    subprocess.run(words, capture_output=True, check=False, timeout=60)
    wait_for_ssh(lab.node("node1"))

    assert until(lambda: is_on(lab, "node1"))
    assert boot_id(lab, "node1") != before


def test_the_bmc_gives_power_back_when_its_timer_ends(lab):
    before = boot_id(lab, "node2")
    to_supervisor(lab, "crash", node="node2")
    to_supervisor(lab, "arm", node="node2", after=0.3)
    assert not is_on(lab, "node2")
    until(lambda: is_on(lab, "node2"))
    wait_for_ssh(lab.node("node2"))

    assert boot_id(lab, "node2") != before


def test_a_timer_that_was_disarmed_leaves_a_running_node_alone(lab):
    before = boot_id(lab, "node2")
    to_supervisor(lab, "arm", node="node2", after=0.1)
    to_supervisor(lab, "disarm", node="node2")

    assert boot_id(lab, "node2") == before


def test_unmodified_clients_see_accelerators_change_while_they_look(lab):
    pytest.importorskip("pynvml")
    code = (
        "import sys, pynvml; pynvml.nvmlInit(); handle = pynvml.nvmlDeviceGetHandleByIndex(1)\n"
        "for _ in sys.stdin: print(pynvml.nvmlDeviceGetTemperature(handle, 0), flush=True)"
    )
    words = ["ssh", "-F", f"{lab.state}/ssh_config", "node2", f'/opt/lab/python -W ignore -c "{code}"']
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as client:
        seen = []
        for temperature in (36, 91):
            ssh(lab, "node2", f"chaos-simulator set --gpu 1 temperature={temperature}")
            client.stdin.write("look\n")
            seen.append(client.stdout.readline().strip())
        client.stdin.close()

    assert seen == ["36", "91"]


def test_a_pulled_cable_takes_the_carrier_away(lab):
    look = "cat /sys/class/net/rdma0/carrier"
    seen = [ssh(lab, "node1", look)]
    for plugged in (False, True):
        to_supervisor(lab, "cable", node="node1", network="training", plugged=plugged)
        seen.append(until(lambda: (now := ssh(lab, "node1", look)) == str(int(plugged)) and now))  # noqa: B023

    assert seen == ["1", "0", "1"]


def test_what_is_written_to_the_kernel_s_log_arrives_as_a_record(lab):
    ssh(lab, "node1", "echo '<3>NVRM: Xid 79' > /dev/kmsg; echo plain > /dev/kmsg")
    text = until(lambda: (seen := ssh(lab, "node1", "cat /run/lab/kmsg")).endswith("plain") and seen)
    records = [re.fullmatch(r"(\d+),(\d+),(\d+),-;(.*)", line).groups() for line in text.splitlines()[-2:]]

    assert [(level, words) for level, _, _, words in records] == [("3", "NVRM: Xid 79"), ("12", "plain")]
    assert int(records[1][1]) == int(records[0][1]) + 1


def test_a_request_that_cannot_be_is_refused_and_the_supervisor_goes_on(lab):
    for given in (
        {"do": "crash", "node": "node9"},
        {"do": "dance"},
        {"do": "cable", "node": "node1", "network": "x", "plugged": True},
    ):
        with pytest.raises(CommandFailed):
            to_supervisor(lab, given.pop("do"), **given)

    assert is_on(lab, "node1")


def test_what_is_up_is_not_brought_up_again(lab):
    said = []
    up(lab, tell=said.append)

    assert said == [f"lab {lab.name} is up already"]


def test_the_command_line_shows_its_state(lab):
    shown = CliRunner().invoke(app, ["status", "--name", lab.name, "--json"])
    document = json.loads(shown.stdout)

    assert (document["is_up"], document["ground"]["tier"]) == (True, "root")
    assert [node["name"] for node in document["nodes"] if node["is_on"]] == [node.name for node in lab.nodes]
