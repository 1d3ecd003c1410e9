"""Looks at every node and at the fabric without breaking anything: is each what was bought?

Run with ``pytest suites/qualification --inventory FILE``; ``--run DIR --replay`` grades a finished run.
"""

import pytest

from chaos.criteria.all_reduce_correctness import AllReduceCorrectness

pytestmark = pytest.mark.qualification


@pytest.mark.each_node
def test_the_node_has_the_accelerators_of_the_contract(examination, node):
    """Number, identity and address of every accelerator are those of the inventory."""
    examination.must_be_healthy("devices_match_inventory", node)


@pytest.mark.each_node
def test_the_accelerators_are_healthy(examination, node):
    """No accelerator is lost, and none has errors that it could not correct."""
    examination.must_be_healthy("device_health", node)


@pytest.mark.each_node
def test_the_training_network_is_up(examination, node):
    """Every training port has a link."""
    examination.must_be_healthy("training_link_up", node)


@pytest.mark.each_node
def test_there_is_room_for_checkpoints(examination, node):
    """The file systems that a job writes to have space left."""
    examination.must_be_healthy("disk_space", node)


@pytest.mark.needs(nodes=2)
def test_an_all_reduce_over_all_nodes_is_exact(examination, cluster):
    """Every rank takes part, and every sum of integers is exact."""
    examination.must(AllReduceCorrectness())
