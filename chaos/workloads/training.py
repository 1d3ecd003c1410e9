"""Training of a small transformer: the load that must recover."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, milliseconds, seconds
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.progress import read_event
from chaos.workloads.shipping import place, shipped


@dataclass(frozen=True, slots=True)
class Training(Workload):
    """Data-parallel training of a decoder-only transformer, deterministic to the last bit, with checkpoints that carry their hash.

    ``pace`` is the least time of a step: it stands for the time that accelerators would compute where there are none. ``patience`` is
    how long a collective may take before its rank gives up: longer than a flap that is to be ridden out, shorter than the recovery
    that is promised. A step's ``compute_seconds`` end where the gradients are computed and exchanged, which overlaps; they hold the
    pace, so a rank is seen to be slow once it is slower than the pace.
    """

    kind: ClassVar[str] = "training"
    title: ClassVar[str] = "Training of a small transformer (DDP)"

    steps: int = 1_000_000
    checkpoint_interval: int = 10
    pace: Duration = 0 * milliseconds
    patience: Duration = 5 * seconds
    width: int = 64
    layers: int = 2

    def __post_init__(self) -> None:
        """Refuses what could not run."""
        if min(self.steps, self.checkpoint_interval, self.layers) < 1 or self.width % 4:
            raise PlanError("plan a training", why="steps, checkpoint_interval and layers are at least 1, width divides by 4")

    @property
    def checkpoint_every(self) -> int:
        """Steps between two checkpoints."""
        return self.checkpoint_interval

    def program(self, node: Node, name: str) -> Program:
        """What each rank runs; checkpoints go to the storage that all nodes share.

        Raises:
            PlanError: the inventory names no such storage, so a spare could not go on from a checkpoint.
        """
        if not node.shared_storage:
            raise PlanError(
                "plan a training", where=node.name, why="it has no shared storage", todo="set shared_storage for the node"
            )
        parameters = {
            "steps": self.steps,
            "checkpoint_every": self.checkpoint_interval,
            "pace": self.pace.seconds,
            "patience": self.patience.seconds,
            "width": self.width,
            "layers": self.layers,
            "folder": f"{node.shared_storage.rstrip('/')}/{{run}}/{name}/checkpoints",
        }
        return Program(
            argv=(json.dumps(parameters),),
            entry="chaos_training:main",
            files=shipped(name, "chaos_rank", "chaos_training"),
            environment={"PYTHONPATH": place(name)},
        )

    def read(self, line: str) -> Reading | None:
        """An event of a rank or of the launcher."""
        return read_event(line)
