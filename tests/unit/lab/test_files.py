"""What a lab writes for those who use it."""

from __future__ import annotations

import pytest

from chaos.errors import Unsupported
from chaos.inventory.reading import load, parse
from chaos.lab import device_state, lifecycle, probe
from chaos.lab.device_state import State
from chaos.lab.files import inventory
from chaos.lab.plan import plan_lab


@pytest.mark.parametrize(("nodes", "spares", "gpus"), [(1, 0, 0), (4, 1, 2), (240, 240, 16)])
def test_its_inventory_is_one_and_names_every_node(nodes, spares, gpus):
    lab = plan_lab(name="other", nodes=nodes, spares=spares, gpus=gpus, management="10.80.0.0/16", training="10.81.0.0/16")

    cluster = parse(inventory(lab).encode(), "inventory.yaml")

    assert {node.name: node.address for node in cluster} == {node.name: node.management for node in lab.nodes}
    assert {node.name: node.training[0].address for node in cluster} == {node.name: node.training for node in lab.nodes}
    assert (cluster.contracted_slots, cluster.is_virtual) == (nodes, True)


def test_its_inventory_names_the_devices_that_a_node_has():
    lab = plan_lab(gpus=5)
    node = parse(inventory(lab).encode(), "inventory.yaml")["node2"]

    state = State.from_buffer_copy(device_state.fresh("node2", 5))
    seen = [(state.devices[index].uuid.decode(), state.devices[index].pci.decode()[4:].lower()) for index in range(5)]

    assert [(each.uuid, each.pci_address) for each in node.accelerators] == seen


def test_the_inventory_that_the_project_ships_describes_the_usual_lab(request):
    shipped = load(request.config.rootpath / "inventory" / "lab.yaml")
    written = parse(inventory(plan_lab()).encode(), "inventory.yaml")

    assert {node.name: (node.address, node.training, node.accelerators, node.role) for node in shipped} == {
        node.name: (node.address, node.training, node.accelerators, node.role) for node in written
    }


def test_without_root_the_lab_says_what_still_works(monkeypatch):
    monkeypatch.setattr(probe.os, "geteuid", lambda: 1000)

    with pytest.raises(Unsupported, match=r"only root can make the namespaces.*everything that needs no lab works"):
        lifecycle.up(plan_lab(name="never"))


def test_missing_tools_are_named_as_packages(monkeypatch):
    monkeypatch.setattr(probe.os, "geteuid", lambda: 0)
    monkeypatch.setattr(probe, "_has", lambda tool: tool not in {"sshd", "nft"})

    ground = probe.probe()

    assert (ground.tier, ground.why) == ("none", "these Debian packages are missing: openssh-server nftables")
