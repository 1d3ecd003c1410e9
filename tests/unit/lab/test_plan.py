"""A lab's plan: names and addresses that never collide, and words for what cannot be."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.errors import UsageError
from chaos.lab import network
from chaos.lab.plan import LabPlan, plan_lab

BIGGEST = plan_lab(nodes=240, spares=240)
LONGEST_INTERFACE = 15  # IFNAMSIZ is 16, with the zero at its end


def test_the_usual_lab_is_what_the_project_s_inventory_says():
    lab = plan_lab()

    assert [(node.name, node.role, node.management, node.gpus) for node in lab.nodes] == [
        ("head", "head", "10.77.0.2", 0),
        ("node1", "compute", "10.77.0.11", 2),
        ("node2", "compute", "10.77.0.12", 2),
        ("node3", "compute", "10.77.0.13", 2),
        ("node4", "compute", "10.77.0.14", 2),
        ("spare1", "spare", "10.77.1.1", 2),
    ]
    assert (lab.controller, lab.state) == ("10.77.0.1", "/run/chaos-lab/lab")


@pytest.mark.parametrize("of", [lambda n: n.name, lambda n: n.number, lambda n: n.management, lambda n: n.training, BIGGEST.port])
def test_nothing_collides_in_the_biggest_lab(of):
    assert len({of(node) for node in BIGGEST.nodes}) == 481


def test_hardware_addresses_are_unique_over_both_networks_and_locally_administered():
    macs = [node.mac(network) for node in BIGGEST.nodes for network in (0, 1)]

    assert len(set(macs)) == 962
    assert all(int(mac[:2], 16) & 3 == 2 for mac in macs)


def test_every_address_lies_in_its_network_and_none_is_the_controller_s():
    for node in BIGGEST.nodes:
        assert ip_address(node.management) in ip_network(BIGGEST.management)
        assert ip_address(node.training) in ip_network(BIGGEST.training)
        assert node.management != BIGGEST.controller


@given(st.from_regex(r"[a-z_][a-z0-9_]{0,31}", fullmatch=True))
def test_interfaces_on_the_host_have_names_that_the_kernel_takes(name):
    lab = plan_lab(name=name, nodes=240, spares=240)

    assert max(len(each) for each in (lab.bridge, *map(lab.port, lab.nodes))) <= LONGEST_INTERFACE
    assert all(each.startswith(lab.prefix) for each in (lab.bridge, *map(lab.port, lab.nodes)))


def test_labs_of_other_names_have_other_names_on_the_host():
    labs = [plan_lab(name=name) for name in ("lab", "lab2", "t1", "t2")]

    assert len({lab.prefix for lab in labs}) == len({lab.state for lab in labs}) == 4


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"nodes": 0}, "0 nodes"),
        ({"nodes": 241}, "1 to 240 nodes"),
        ({"spares": -1}, "-1 spares"),
        ({"gpus": 17}, "0 to 16 GPUs"),
        ({"name": "a/b"}, "no name"),
        ({"name": ""}, "no name"),
        ({"management": "10.77.0.0/24"}, "hold 1024 addresses"),
        ({"training": "8.8.0.0/16"}, "must be private"),
        ({"training": "ten"}, "write it like"),
        ({"management": "10.77.0.1/16"}, "host bits"),
    ],
)
def test_what_cannot_be_is_said_in_words(given_, words):
    with pytest.raises(UsageError, match=words):
        plan_lab(**given_)


def test_two_networks_that_overlap_are_refused():
    with pytest.raises(UsageError, match="overlap"):
        plan_lab(management="10.77.0.0/16", training="10.77.8.0/22")


def test_a_node_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(UsageError, match="head, node1, spare1"):
        plan_lab(nodes=1).node("node9")


def test_a_node_gets_both_cables_and_addresses_with_the_length_of_their_networks():
    lab: LabPlan = plan_lab(management="10.80.0.0/22", training="10.80.4.0/22")
    lines = network.address_batch(lab, lab.node("node1"))

    assert "addr add 10.80.0.11/22 dev eth0" in lines
    assert "addr add 10.80.4.11/22 dev rdma0" in lines
