"""torch's elastic agent on every node over SSH, spare nodes standing by, a health gate on each."""

from __future__ import annotations

import json
import zlib
from importlib import resources
from typing import ClassVar

from chaos.errors import PlanError
from chaos.model.acts import WriteFile
from chaos.model.guards import Job
from chaos.model.nodes import Cluster, Node, Role
from chaos.protocols.workload import Launch, Launcher, Program, Workload

_FIRST_PORT, _PORTS = 29_400, 500
_SPARE_WAITS = 4.0
"""Seconds by which a spare lets the others go first, so that the contracted nodes make the first round."""


class Elastic(Launcher):
    """The recovery under test is torch's own: its agents form a new round when a rank or a node is lost, and a spare takes the place.

    A runner on every node keeps the agent going while the node is fit and takes it out of the job while it is not: no carrier on the
    training link for 2 s, the head not reached over the training network for 4 s (only where the head has an address there), a device
    that is lost, has a new uncorrectable memory error, or whose management library hangs for 10 s. The rendezvous store is a process
    of its own on the head, reached at its management address, so it outlives every node and a cut training network does not cut it.
    torch drops a member whose heartbeat is 4 s old by the other nodes' wall clocks: these must agree better than that.
    """

    kind: ClassVar[str] = "elastic"
    title: ClassVar[str] = "torch elastic over SSH with spare nodes"

    def launch(self, workload: Workload, name: str, cluster: Cluster, *, fence: int = 0, with_spares: bool = True) -> Launch:
        """The store on the head, and a runner on every node.

        Raises:
            PlanError: the cluster has no head or no compute node, or a node has no training address.
        """
        head, members = _head(cluster), cluster.where(role=Role.COMPUTE)
        spares = cluster.where(role=Role.SPARE) if with_spares else ()
        if not members:
            raise PlanError(
                "launch a job", where=cluster.name, why="the inventory has no compute node", todo="add one with role: compute"
            )
        port = _FIRST_PORT + zlib.crc32(f"{name}-{fence}".encode()) % _PORTS
        endpoint = f"{head.address}:{port}"
        beacon = (_training(head), port + _PORTS) if head.training and head.training[0].address else None
        jobs = [(head.name, _store(head, name, port, beacon))]
        run = f"{name}-{fence}"
        jobs += [(node.name, _runner(node, workload, run, endpoint, beacon, len(members))) for node in (*members, *spares)]
        ranks = sum(max(1, len(node.accelerators)) for node in members)
        recovered_by = "torch elastic (torchrun's agent) with spare nodes and the launcher's health gate"
        return Launch(tuple(jobs), recovered_by, ranks)


def _head(cluster: Cluster) -> Node:
    heads = cluster.where(role=Role.HEAD)
    if not heads:
        raise PlanError(
            "launch a job",
            where=cluster.name,
            why="no node holds the rendezvous",
            todo="add a node with role: head to the inventory",
        )
    return heads[0]


def _training(node: Node) -> str:
    if not node.training or not node.training[0].address:
        raise PlanError("launch a job", where=node.name, why="it has no training address", todo="add training: to the inventory")
    return node.training[0].address.partition("/")[0]


def _store(head: Node, name: str, port: int, beacon: tuple[str, int] | None) -> Job:
    argv = (head.python, "{home}/programs/store/chaos_store.py", head.address, str(port), *map(str, beacon or ()))
    return Job(f"{name}-store", argv, files=(_program("store", "chaos_store"),))


def _runner(node: Node, workload: Workload, run: str, endpoint: str, beacon: tuple[str, int] | None, nodes: int) -> Job:
    name, address = run.rpartition("-")[0], _training(node)
    program, port = workload.program(node, name), node.training[0]
    folder = f"programs/{name}"
    agent = {
        "endpoint": endpoint,
        "run": run,
        "nodes": nodes,
        "ranks": max(1, len(node.accelerators)),
        "address": address,
        "is_spare": node.role is Role.SPARE,
        "entry": program.entry,
        "arguments": list(program.argv),
        "logs": f"{{home}}/{folder}/logs",
    }
    runner = {
        "interface": port.name,
        "devices": len(node.accelerators),
        "beacon": list(beacon or ()),
        "head_start": _SPARE_WAITS if node.role is Role.SPARE else 0.0,
        "agent": [f"{{home}}/{folder}/chaos_elastic.py", json.dumps(agent)],
    }
    files = (_program(name, "chaos_runner"), _program(name, "chaos_elastic"), *program.files)
    environment = _environment(program, port.name, folder)
    return Job(
        name, (node.python, f"{{home}}/{folder}/chaos_runner.py", json.dumps(runner)), environment=environment, files=files
    )


def _environment(program: Program, interface: str, folder: str) -> dict[str, str]:
    """The settings without which restarts fail or name look-ups hang; the store of an older round must not be met again."""
    return {
        **program.environment,
        "GLOO_SOCKET_IFNAME": interface,
        "TP_SOCKET_IFNAME": interface,
        "NCCL_SOCKET_IFNAME": interface,
        "OMP_NUM_THREADS": "1",
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        "CHAOS_ROUND_FILE": f"{{home}}/{folder}/round",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _program(name: str, module: str) -> WriteFile:
    text = resources.files("chaos.launchers").joinpath("programs", f"{module}.py").read_text(encoding="utf-8")
    return WriteFile(f"{{home}}/programs/{name}/{module}.py", text)
