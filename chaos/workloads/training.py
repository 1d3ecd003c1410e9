"""Deterministic data-parallel training with checkpoints: a resumed run must give the losses of an uninterrupted one, bit for bit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.shipped import folder, programs, read_event


@dataclass(frozen=True, slots=True)
class Training(Workload):
    """Trains a small decoder-only transformer with torch's DistributedDataParallel (NCCL on GPUs, Gloo on CPUs).

    Data are a pure function of step and rank, seeds are fixed and sums have a fixed order, so the loss at each step is a fingerprint of
    all that came before. ``pace``: the least time of a step; it stands for the accelerator's work where there is none. Between steps
    each rank asks NVML whether its device is still there and has had an uncorrectable memory error, and fails as CUDA would.

    Checkpoints lie in ``<shared storage>/<name>/checkpoints``. Each is written beside, synced, renamed, and named with its SHA-256 in
    a manifest; loading verifies the hash on every rank and falls back to the one before, of which ``rank.loaded`` tells in ``skipped``.
    Those of another run under the same name are not taken.
    """

    kind: ClassVar[str] = "training"
    title: ClassVar[str] = "Deterministic data-parallel training"

    steps: int = 60
    checkpoint_every: int | None = 10
    pace: Duration = 0 * seconds
    layers: int = 2
    d_model: int = 64

    def program(self, node: Node, name: str) -> Program:
        if not node.shared_storage:
            raise PlanError(
                f"train under the name {name}",
                where=node.name,
                why="checkpoints need a folder that all nodes see, and the inventory names none",
                todo="set shared_storage for the node",
            )
        parameters = {
            "steps": self.steps,
            "checkpoint_every": self.checkpoint_every,
            "pace": self.pace.seconds,
            "layers": self.layers,
            "d_model": self.d_model,
            "checkpoints": f"{node.shared_storage.rstrip('/')}/{name}/checkpoints",
        }
        return Program(
            argv=(node.python, f"{folder(name)}/training.py"),
            entry="training:main",
            files=programs(name, "training.py", "checkpoints.py", "sentinel.py", "rank.py"),
            environment={"PYTHONPATH": folder(name), "CHAOS_TRAINING": json.dumps(parameters, sort_keys=True)},
        )

    def read(self, line: str) -> Reading | None:
        return read_event(line)
