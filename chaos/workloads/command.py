"""A user's own job, whose progress is read from what it prints."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.shipped import folder, programs, read_event

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True, slots=True)
class Command(Workload):
    """Runs any command once per rank, with torchrun's environment variables, and reads its progress by a pattern.

    ``pattern`` is a regular expression that is searched in each line; its named groups are ``step`` (needed), ``loss``, and ``time``,
    the duration of the step in ``time_unit`` (s, ms or us). A line that does not match says nothing about progress.
    ``checkpoint_every``: steps between the checkpoints that the job itself writes.
    """

    kind: ClassVar[str] = "command"
    title: ClassVar[str] = "A job of your own"

    argv: tuple[str, ...] = ()
    pattern: str = r"step[ =:]+(?P<step>\d+)"
    time_unit: str = "s"
    checkpoint_every: int | None = None

    def __post_init__(self) -> None:
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise PlanError(
                f"read progress with {self.pattern!r}", why=str(error), todo="correct the regular expression"
            ) from error
        if "step" not in groups:
            raise PlanError(
                f"read progress with {self.pattern!r}",
                why="it has no group named step",
                todo=r"write (?P<step>\d+) where the number is",
            )
        if self.time_unit not in _SECONDS:
            raise PlanError(f"read times in {self.time_unit!r}", why="the unit is unknown", todo="use s, ms or us")

    def program(self, node: Node, name: str) -> Program:
        if not self.argv:
            raise PlanError(f"run {name}", where=node.name, why="the command is empty", todo="set argv")
        return Program(
            argv=(node.python, f"{folder(name)}/command.py"),
            entry="command:main",
            files=programs(name, "command.py", "rank.py"),
            environment={"PYTHONPATH": folder(name), "CHAOS_COMMAND": json.dumps(self.argv)},
        )

    def read(self, line: str) -> Reading | None:
        reading = read_event(line)
        if reading is None:
            return self._progress(line, Reading("rank.step", None, {}))
        if reading.what != "output":
            return reading
        text = reading.data.get("text")
        return self._progress(text, replace(reading, what="rank.step")) if isinstance(text, str) else None

    def _progress(self, text: str, around: Reading) -> Reading | None:
        match = re.search(self.pattern, text)
        if match is None:
            return None
        said = match.groupdict()
        try:
            data: dict[str, Any] = {"rank": around.data.get("rank", 0), "step": int(said["step"])}
            if said.get("loss") is not None:
                data["loss"] = float(said["loss"]).hex()
            if said.get("time") is not None:
                data["seconds"] = float(said["time"]) * _SECONDS[self.time_unit]
        except (TypeError, ValueError):
            return None
        return replace(around, data=data)
