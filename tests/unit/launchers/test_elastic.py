"""What the elastic launcher starts where, as values."""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import chaos.launchers
import chaos.workloads
from chaos.errors import PlanError
from chaos.launchers.elastic import Elastic
from chaos.model.nodes import Accelerator, Cluster, Interface, Node, Role
from chaos.workloads.training import Training

DEVICES = (Accelerator(0, "GPU-0", ""), Accelerator(1, "GPU-1", ""))


def node(name: str, number: int, role: Role = Role.COMPUTE) -> Node:
    return Node(
        name,
        f"10.77.0.{number}",
        role=role,
        accelerators=() if role is Role.HEAD else DEVICES,
        training=(Interface("rdma0", f"10.78.0.{number}/16", rail=0),),
        python="/opt/python",
        shared_storage="/shared",
    )


HEAD = node("head", 2, Role.HEAD)
CLUSTER = Cluster("site", (node("node1", 11), node("node2", 12), node("spare1", 21, Role.SPARE), HEAD), contracted_slots=2)


def launch(cluster: Cluster = CLUSTER, **keywords):
    return Elastic().launch(Training(), "training", cluster, **keywords)


def runner(started, name: str) -> dict:
    """What the runner on a node is given."""
    return next(json.loads(job.argv[2]) for where, job in started.jobs if where == name)


def test_the_store_starts_first_on_the_head_and_spares_last():
    assert [where for where, _ in launch().jobs] == ["head", "node1", "node2", "spare1"]


def test_every_accelerator_of_a_compute_node_gets_a_rank_and_spares_add_none():
    assert launch().expected_ranks == 4


def test_without_spares_only_compute_nodes_run():
    assert [where for where, _ in launch(with_spares=False).jobs] == ["head", "node1", "node2"]


def test_jobs_carry_the_name_under_which_they_are_stopped():
    assert [job.name for _, job in launch().jobs] == ["training-store", "training", "training", "training"]


def test_each_start_has_a_rendezvous_and_a_port_of_its_own():
    first, second = (json.loads(runner(launch(fence=fence), "node1")["agent"][1]) for fence in (0, 1))

    assert first["run"] != second["run"]
    assert first["endpoint"] != second["endpoint"]


def test_ports_stay_below_those_that_the_kernel_hands_out():
    for fence in range(200):
        store = launch(fence=fence).jobs[0][1]
        assert 1024 < int(store.argv[3]) < 32_768
        assert 1024 < int(store.argv[5]) < 32_768


def test_ranks_speak_over_the_training_network_and_the_store_is_reached_over_the_other():
    started = launch()
    agent = json.loads(runner(started, "node1")["agent"][1])

    assert agent["address"] == "10.78.0.11"
    assert agent["endpoint"].startswith("10.77.0.2:")
    assert dict(started.jobs)["node1"].environment["GLOO_SOCKET_IFNAME"] == "rdma0"


def test_the_gate_asks_for_the_head_on_the_training_network_only_where_the_head_is_on_it():
    bare = replace(CLUSTER, nodes=(*CLUSTER.nodes[:3], replace(HEAD, training=())))

    assert runner(launch(), "node1")["beacon"][0] == "10.78.0.2"
    assert runner(launch(bare), "node1")["beacon"] == []
    assert len(launch(bare).jobs[0][1].argv) == 4


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        (CLUSTER.nodes[:3], "no node holds the rendezvous"),
        ((HEAD,), "no compute node"),
        ((replace(CLUSTER.nodes[0], training=()), HEAD), "no training address"),
    ],
)
def test_a_cluster_that_cannot_run_a_job_is_refused_with_what_it_lacks(nodes, why):
    with pytest.raises(PlanError, match=why):
        launch(replace(CLUSTER, nodes=nodes))


PROGRAMS = sorted(
    path
    for package in (chaos.launchers, chaos.workloads)
    for path in (Path(package.__file__).parent / "programs").glob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_a_program_for_nodes_is_python_38(program):
    ast.parse(program.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_a_program_for_nodes_needs_only_the_standard_library_torch_and_what_travels_with_it(program):
    names = set()
    for part in ast.walk(ast.parse(program.read_text())):
        if isinstance(part, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            names.add(part.module.partition(".")[0])

    assert names <= set(sys.stdlib_module_names) | {"torch"} | {path.stem for path in PROGRAMS}


def test_whatever_a_rank_imports_travels_with_it():
    job = dict(launch().jobs)["node1"]
    shipped = {Path(file.path).stem: file.content for file in job.files}
    own = {path.stem for path in PROGRAMS}

    for text in shipped.values():
        for part in ast.walk(ast.parse(text)):
            if isinstance(part, ast.ImportFrom) and part.module in own:
                assert part.module in shipped
