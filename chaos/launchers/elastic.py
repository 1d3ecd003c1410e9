"""Torch elastic over the nodes' agents, with spares that take the place of a node that is lost or unfit."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import PlanError
from chaos.launchers.shipped import program_text
from chaos.model.acts import WriteFile
from chaos.model.guards import Job
from chaos.model.nodes import Cluster, Node, Role
from chaos.model.quantities import Duration, seconds
from chaos.protocols.workload import Launch, Launcher, Program, Workload

_RUNNER = ("elastic_runner.py", "elastic_gate.py", "elastic_agent.py", "elastic_worker.py", "elastic_events.py")
_STORE = ("elastic_store.py", "elastic_events.py")
_LOWEST_PORT, _PORTS = 20_000, 10_000
"""Store ports lie below the ephemeral range of Linux (32768), where an outgoing connection could hold one."""


@dataclass(frozen=True, slots=True)
class Elastic(Launcher):
    """Runs a load with torch elastic (torchrun's agent) on all compute nodes; spare nodes wait and take over.

    On every node a runner keeps the agent going while the node is fit: its training links are up and its devices answer. A link that
    is down for ``debounce`` or a lost device takes the node out at once; a spare completes the group; the node comes back as a spare
    once it has been fit for ``settle``. The rendezvous store is a process of its own on the head, reached over the management network:
    it outlives every node, and a cut training network does not cut it.

    ``ranks_per_node``: 0 takes one for each accelerator of the inventory. ``collective_timeout``: how long a rank waits for the
    others before it gives up and the group is formed anew; it must outlast a flap that is to be ridden out. A node is lost after
    ``keep_alive`` times ``keep_alive_attempts`` without a heartbeat; torch compares the nodes' wall clocks for that, so they must
    agree better than this. ``patience``: how long a spare leaves a free place to a member that may be about to return.
    ``watch_ecc``: an uncorrectable memory error takes the node out too. ``store_port``: 0 derives it from the load's name and fence.
    """

    kind: ClassVar[str] = "elastic"
    title: ClassVar[str] = "torch elastic over SSH, with spares"

    ranks_per_node: int = 0
    collective_timeout: Duration = 5 * seconds
    start_timeout: Duration = 15 * seconds
    debounce: Duration = 2 * seconds
    settle: Duration = 1 * seconds
    keep_alive: int = 1
    keep_alive_attempts: int = 4
    patience: Duration = 4 * seconds
    start_patience: Duration = 30 * seconds
    poll: Duration = 0.2 * seconds
    watch_ecc: bool = False
    store_port: int = 0

    def launch(self, workload: Workload, name: str, cluster: Cluster, *, fence: int = 0, with_spares: bool = True) -> Launch:
        compute = cluster.where(role=Role.COMPUTE)
        spares = cluster.where(role=Role.SPARE) if with_spares else ()
        head = _head(cluster, name)
        ranks = self._ranks_per_node(compute, name)
        common: dict[str, object] = {
            "rendezvous": f"{name}-{fence}",
            "store_address": _bare(head.management.address if head.management and head.management.address else head.address),
            "store_port": self.store_port or _LOWEST_PORT + zlib.crc32(f"{name}-{fence}".encode()) % _PORTS,
            "nodes": len(compute),
            "ranks_per_node": ranks,
            **self._waits(),
        }
        runners = tuple((node.name, self._runner(workload, name, node, common)) for node in (*compute, *spares))
        agent = "torch elastic (torchrun's agent)"
        by = f"{agent} with spare nodes and the launcher's health gate" if spares else f"{agent} with the launcher's health gate"
        return Launch(((head.name, _store(name, head, common)), *runners), by, len(compute) * ranks)

    def _ranks_per_node(self, compute: tuple[Node, ...], name: str) -> int:
        if not compute:
            raise PlanError(
                f"launch {name}", why="no node has the role compute", todo="give nodes the role compute in the inventory"
            )
        counts = {self.ranks_per_node or max(1, len(node.accelerators)) for node in compute}
        if len(counts) > 1:
            raise PlanError(
                f"launch {name}",
                why=f"the compute nodes have different numbers of accelerators: {sorted(counts)}",
                todo="set ranks_per_node",
            )
        return counts.pop()

    def _waits(self) -> dict[str, object]:
        return {
            "debounce": self.debounce.seconds,
            "settle": self.settle.seconds,
            "keep_alive": self.keep_alive,
            "keep_alive_attempts": self.keep_alive_attempts,
            "patience": self.patience.seconds,
            "start_patience": self.start_patience.seconds,
            "poll": self.poll.seconds,
            "watch_ecc": self.watch_ecc,
        }

    def _runner(self, workload: Workload, name: str, node: Node, common: Mapping[str, object]) -> Job:
        program = workload.program(node, name)
        folder = f"{{home}}/jobs/{name}"
        config = {
            **common,
            "address": _bare(node.training[0].address if node.training and node.training[0].address else node.address),
            "interfaces": [interface.name for interface in node.training],
            "accelerators": len(node.accelerators),
            "is_spare": node.role is Role.SPARE,
            "entry": program.entry,
        }
        return Job(
            name=name,
            argv=(node.python, f"{folder}/elastic_runner.py"),
            environment={**self._environment(node, name, program, folder), "CHAOS_ELASTIC": json.dumps(config, sort_keys=True)},
            directory=folder,
            files=(*_files(folder, _RUNNER), *program.files),
            events=f"{folder}/events.jsonl",
        )

    def _environment(self, node: Node, name: str, program: Program, folder: str) -> dict[str, str]:
        path = ":".join(dict.fromkeys(part for part in (folder, program.environment.get("PYTHONPATH", "")) if part))
        return {
            "OMP_NUM_THREADS": "1",
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
            **_through(node),
            **program.environment,
            "PYTHONPATH": path,
            "CHAOS_HOME": "{home}",
            "CHAOS_WORKLOAD": name,
            "CHAOS_EVENTS": f"{folder}/events.jsonl",
            "CHAOS_COLLECTIVE_TIMEOUT": f"{self.collective_timeout.seconds:g}",
            "CHAOS_START_TIMEOUT": f"{self.start_timeout.seconds:g}",
            "CHAOS_ARGV": json.dumps(program.argv),
        }


def _head(cluster: Cluster, name: str) -> Node:
    heads = cluster.where(role=Role.HEAD)
    if not heads:
        raise PlanError(
            f"launch {name}",
            where=cluster.name,
            why="no node has the role head, and the rendezvous store must outlive every node that a fault may strike",
            todo="give one node the role head in the inventory; it needs no accelerator, only torch",
        )
    return heads[0]


def _store(name: str, head: Node, common: Mapping[str, object]) -> Job:
    folder = f"{{home}}/jobs/{name}-store"
    return Job(
        name=f"{name}-store",
        argv=(head.python, f"{folder}/elastic_store.py"),
        environment={
            "PYTHONPATH": folder,
            "OMP_NUM_THREADS": "1",
            "CHAOS_HOME": "{home}",
            "CHAOS_EVENTS": f"{folder}/events.jsonl",
            "CHAOS_ELASTIC": json.dumps(common, sort_keys=True),
        },
        directory=folder,
        files=_files(folder, _STORE),
        events=f"{folder}/events.jsonl",
    )


def _files(folder: str, names: tuple[str, ...]) -> tuple[WriteFile, ...]:
    return tuple(WriteFile(f"{folder}/{name}", program_text(name)) for name in names)


def _through(node: Node) -> dict[str, str]:
    if not node.training:
        return {}
    return dict.fromkeys(("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), node.training[0].name)


def _bare(address: str) -> str:
    return address.partition("/")[0]
