"""The inventories that ship are right, and editors are told the truth about them."""

import json
from pathlib import Path

import pytest

from chaos.inventory.reading import load
from chaos.inventory.shape import json_schema
from chaos.model.nodes import Role, Severity

FOLDER = Path(__file__).parents[2] / "inventory"


def test_the_published_schema_is_that_of_the_models():
    assert json.loads((FOLDER / "schema.json").read_text()) == json_schema(), "run `make schema`"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.name)
def test_a_shipped_inventory_loads_and_names_its_schema(file):
    assert len(load(file)) > 0
    assert file.read_text().startswith("# yaml-language-server: $schema=schema.json\n")


def test_the_lab_is_four_nodes_one_spare_and_a_head_with_their_files_where_the_lab_puts_them():
    lab = load(FOLDER / "lab.yaml")

    assert lab.is_virtual
    assert [node.name for node in lab.where(role=Role.COMPUTE)] == ["node1", "node2", "node3", "node4"]
    assert [node.name for node in lab.where(role=Role.SPARE)] == ["spare1"]
    assert [node.name for node in lab.where(role=Role.HEAD)] == ["head"]
    for node in (*lab.where(role=Role.COMPUTE), *lab.where(role=Role.SPARE)):
        assert node.severity_allowed is Severity.DESTRUCTIVE
        assert (node.vendor, len(node.accelerators), node.training[0].name) == ("nvidia-simulated", 2, "rdma0")
        assert (node.kernel_log, node.python, node.shared_storage) == ("/run/lab/kmsg", "/opt/lab/python", "/shared")
        assert node.bmc is not None
        assert (node.bmc.driver, node.ssh.config) == ("lab", "/run/chaos-lab/lab/ssh_config")
