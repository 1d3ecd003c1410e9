"""A made-up training job: rounds, steps, checkpoints, and what it tells when a part of it breaks."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.criteria.canaries.recorder import Recorder
from chaos.model.events import WorkloadEnded, WorkloadStarted

RANKS_PER_NODE = 2


def loss_at(step: int, rank: int) -> str:
    """The loss of a step, as a hexadecimal float: a pure function of step and rank, as in a deterministic job."""
    return (4.0 / (1 + 0.05 * step) + 0.001 * rank).hex()


class TrainingJob:
    """A synchronous job on some nodes. Each method moves the recorder's time."""

    def __init__(
        self,
        recorder: Recorder,
        name: str,
        nodes: tuple[str, ...],
        spares: tuple[str, ...],
        *,
        pace: float = 0.2,
        every: int = 10,
    ) -> None:
        self.recorder, self.name, self.nodes, self.spares = recorder, name, nodes, spares
        self.pace, self.every = pace, every
        self.step, self.saved, self.round, self.pid = 0, 0, -1, 4000
        self.slow_rank: int | None = None
        self.loss_error = 0.0

    @property
    def world(self) -> int:
        """How many ranks take part."""
        return len(self.nodes) * RANKS_PER_NODE

    def start(self) -> None:
        """The load is started and its first round comes up."""
        body = WorkloadStarted(
            self.name,
            "training",
            "elastic",
            "torch elastic and the launcher's health gate",
            self.nodes,
            self.spares,
            self.world,
            self.recorder.at,
            checkpoint_every=self.every,
        )
        self.recorder.write(body)
        self.begin_round(0.3)

    def begin_round(self, after: float, *, restore: int | None = None) -> None:
        """A rendezvous, new processes, a communicator, a checkpoint loaded: ``after`` seconds in all."""
        self.round += 1
        self.step = self.saved if restore is None else restore
        for share, stage in ((0.4, self._bind), (0.25, self._come_up), (0.25, self._communicate), (0.1, self._load)):
            self.recorder.at += after * share
            stage()

    def _bind(self) -> None:
        for node_rank, node in enumerate(self.nodes):
            data = {"round": self.round, "node_rank": node_rank, "nodes": len(self.nodes), "world": self.world}
            self._tell(node, "rendezvous.done", data)

    def _come_up(self) -> None:
        for rank, node in self._ranks():
            self.pid += 1
            data = {"rank": rank, "local_rank": rank % RANKS_PER_NODE, "world": self.world, "round": self.round, "pid": self.pid}
            self._tell(node, "rank.up", {**data, "started": self.pid * 7})

    def _communicate(self) -> None:
        for rank, node in self._ranks():
            data = {"rank": rank, "world": self.world, "round": self.round, "proven": self.world}
            self._tell(node, "rank.communicator", data)

    def _load(self) -> None:
        for rank, node in self._ranks():
            data = {"rank": rank, "step": self.step, "path": f"/shared/{self.step:06d}.pt", "sha256": f"{self.step:064x}"}
            self._tell(node, "rank.loaded", data)

    def steps(self, number: int) -> None:
        """So many steps of all ranks; a checkpoint whenever one is due."""
        for _ in range(number):
            self.step += 1
            compute = self.pace / 4
            seconds = self.pace * (1.5 if self.slow_rank is not None else 1.0)
            self.recorder.at += seconds
            for rank, node in self._ranks():
                mine = compute * (3.0 if rank == self.slow_rank else 1.0)
                loss = (float.fromhex(loss_at(self.step, rank)) * (1 + (self.loss_error if self.round else 0.0))).hex()
                data = {"rank": rank, "step": self.step, "loss": loss, "seconds": seconds, "compute_seconds": mine}
                self._tell(node, "rank.step", data)
            if self.step % self.every == 0:
                self._save()

    def _save(self) -> None:
        self.saved = self.step
        data = {"rank": 0, "step": self.step, "path": f"/shared/{self.step:06d}.pt", "sha256": f"{self.step:064x}"}
        self._tell(self.nodes[0], "rank.saved", {**data, "bytes": 1 << 20, "stall_seconds": 0.01})

    def lose_peers(self, except_node: str) -> None:
        """Every rank elsewhere says that the connection to a peer is gone."""
        for rank, node in self._ranks():
            if node != except_node:
                data = {"rank": rank, "error": "RuntimeError", "text": "gloo: Connection closed by peer"}
                self._tell(node, "rank.failed", data, after=0.4)

    def first_rank_on(self, node: str) -> int:
        """The lowest rank on a node."""
        return self.nodes.index(node) * RANKS_PER_NODE

    def replace(self, node: str) -> None:
        """The first spare takes the place of a node, which becomes a spare."""
        spare, *others = self.spares
        self.nodes = tuple(spare if name == node else name for name in self.nodes)
        self.spares = (*others, node)

    def end(self, outcome: str = "stopped") -> None:
        """The load ends and its series are attached."""
        self.recorder.write(WorkloadEnded(self.name, outcome, self.recorder.at))
        self.recorder.attach(self.name)

    def _ranks(self) -> list[tuple[int, str]]:
        return [(index, self.nodes[index // RANKS_PER_NODE]) for index in range(self.world)]

    def _tell(self, node: str, what: str, data: Mapping[str, object], *, after: float = 0.0) -> None:
        self.recorder.see(node, what, data, after=after, workload=self.name)
