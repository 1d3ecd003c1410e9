"""What the operating system is told and how its answers are read."""

import json

import pytest

from chaos.model.acts import Answer, Consult, Run, WriteFile
from chaos.model.unknown import Unknown
from chaos.vendors.on_linux.kernel_log import KernelMessages
from chaos.vendors.on_linux.links import LinuxLinks
from chaos.vendors.on_linux.memory import Cgroups
from chaos.vendors.on_linux.packets import NetfilterTables
from chaos.vendors.on_linux.processes import LinuxProcesses

LINK = {
    "exists": True, "interface": "t0", "operstate": "up", "is_up": True, "carrier": 1, "carrier_changes": 2, "mtu": 9000,
    "addresses": ["10.0.0.1/24", "fd00::1/64"],
    "routes": [
        {"dst": "default", "gateway": "10.0.0.9", "flags": [], "family": "-4"},
        {"dst": "10.1.0.0/16", "gateway": "10.0.0.9", "metric": 50, "metrics": [{"mtu": 1300}], "flags": ["onlink"], "family": "-4"},
        {"dst": "10.0.0.0/24", "protocol": "kernel", "scope": "link", "prefsrc": "10.0.0.1", "flags": [], "family": "-4"},
        {"dst": "default", "gateway": "fe80::1", "protocol": "ra", "flags": [], "family": "-6"},
    ],
}  # fmt: skip


def lines(script) -> list[str]:
    return [str(act) for act in script.acts]


def test_a_restore_puts_back_mtu_state_addresses_and_routes_each_on_its_own():
    assert lines(LinuxLinks().restore("t0", LINK)) == [
        "ip link set dev t0 mtu 9000",
        "ip link set dev t0 up",
        "ip address add 10.0.0.1/24 dev t0",
        "ip address add fd00::1/64 dev t0 nodad",
        "ip -4 route replace default via 10.0.0.9 dev t0",
        "ip -4 route replace 10.1.0.0/16 via 10.0.0.9 dev t0 metric 50 mtu 1300 onlink",
    ]


def test_an_interface_that_was_down_before_is_down_after():
    assert "ip link set dev t0 down" in lines(LinuxLinks().restore("t0", {**LINK, "is_up": False}))


@pytest.mark.parametrize("route", [{"dst": "10.2.0.0/16", "nexthops": [], "family": "-4"}, {"gateway": "10.0.0.9"}, "default"])
def test_a_snapshot_with_a_route_that_could_not_be_put_back_is_unknown(route):
    answer = Answer(stdout=json.dumps({**LINK, "routes": [route]}))

    assert isinstance(LinuxLinks().state("t0").read(answer), Unknown)


def test_interfaces_are_listed_with_their_carrier():
    text = json.dumps([{"ifname": "lo", "flags": ["UP", "LOWER_UP"]}, {"ifname": "t0", "flags": ["UP", "NO-CARRIER"]}])

    links = LinuxLinks().overview().read(Answer(stdout=text))

    assert [(link["interface"], link["has_carrier"]) for link in links] == [("lo", True), ("t0", False)]


def test_packets_are_dropped_in_one_transaction_in_a_table_of_our_own():
    (act,) = NetfilterTables().drop("chaos_a", ["10.0.0.2", "fd00::2"], "t0").acts

    assert all("inet chaos_a" in line for line in act.stdin.splitlines())
    assert 'iifname "t0" ip saddr 10.0.0.2 counter drop' in act.stdin
    assert 'oifname "t0" ip6 daddr fd00::2 counter drop' in act.stdin
    assert "flush" not in act.stdin


def test_a_kernel_line_is_written_with_its_priority_and_nothing_is_replaced():
    (act,) = KernelMessages("/run/lab/kmsg").write("NVRM: Xid", 3).acts

    assert act == WriteFile("/dev/kmsg", "<3>NVRM: Xid\n", append=True)


@pytest.mark.parametrize(("text", "status", "read"), [("2\n", 0, True), ("0\n", 1, False)])
def test_a_kernel_log_file_is_searched(text, status, read):
    question = KernelMessages("/run/lab/kmsg").contains("[chaos d1]")

    assert question.read(Answer(stdout=text, exit_status=status)) is read


def test_the_ring_buffer_is_searched_where_the_kernel_log_is_the_device():
    question = KernelMessages().contains("[chaos d1]")

    assert question.asks == Run(("dmesg",))
    assert question.read(Answer(stdout="[1.0] NVRM [chaos d1]\n")) is True
    assert question.read(Answer(stdout="[1.0] other\n")) is False
    assert isinstance(question.read(Answer(stdout="")), Unknown)


@pytest.mark.parametrize(
    ("version", "place", "file"),
    [(1, "/cg/job/chaos-d1", "memory.limit_in_bytes"), (2, "/cg/chaos-d1", "memory.max")],
)
def test_the_cgroup_version_that_the_node_answered_decides(version, place, file):
    answer = Answer(stdout=json.dumps({"exists": True, "version": version, "root": "/cg", "path": "/cg/job"}))
    before = Cgroups().state(7, 8).read(answer)

    script = Cgroups().limit("d1", before, 4096)

    assert WriteFile(f"{place}/{file}", "4096") in script.acts
    assert Cgroups().kills("d1", before).asks == Consult("cgroup", {"path": place})


def test_a_cgroup_version_that_nobody_knows_is_unknown():
    answer = Answer(stdout=json.dumps({"exists": True, "version": 3, "root": "/cg", "path": "/cg/job"}))

    assert isinstance(Cgroups().state(7, 8).read(answer), Unknown)


def test_too_few_samples_are_no_evidence():
    question = LinuxProcesses().stopped_share(7, 8)

    assert isinstance(question.read(Answer(stdout='{"exists": true, "samples": 3, "stopped": 0}')), Unknown)
    assert question.read(Answer(stdout='{"exists": true, "samples": 100, "stopped": 40}')) == 0.4
