"""A user's own job: any command, its progress read by a pattern."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.progress import read_event
from chaos.workloads.shipping import place, shipped

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True, slots=True)
class Command(Workload):
    r"""Any command, once per rank, with a pattern that finds its progress: named groups ``step``, ``loss``, ``time``, ``rank``.

    ``time`` is the duration of the step in ``time_unit`` (s, ms or us). The command finds torchrun's environment variables.

    Example pattern: ``step (?P<step>\d+).*loss (?P<loss>[\d.]+)``.
    """

    kind: ClassVar[str] = "command"
    title: ClassVar[str] = "A command of your own"

    argv: tuple[str, ...] = ("true",)
    pattern: str = r"step\s*(?P<step>\d+)"
    time_unit: str = "s"
    checkpoint_interval: int | None = None

    def __post_init__(self) -> None:
        """Refuses a pattern that could find no step, and a unit that is none."""
        if self.time_unit not in _SECONDS:
            raise PlanError(
                "read the times of a command", where=self.time_unit, why="the unit is unknown", todo="use s, ms or us"
            )
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise PlanError(
                "read the pattern of a command", where=self.pattern, why=str(error), todo="mend the regular expression"
            ) from error
        if "step" not in groups:
            raise PlanError(
                "read the pattern of a command", where=self.pattern, why="it has no group named step", todo="write (?P<step>...)"
            )

    @property
    def checkpoint_every(self) -> int | None:
        """Steps between two checkpoints, as the user says."""
        return self.checkpoint_interval

    def program(self, node: Node, name: str) -> Program:
        """A rank that runs the command and passes on what it prints.

        Raises:
            PlanError: there is no command.
        """
        if not self.argv:
            raise PlanError(f"run {name}", where=node.name, why="the command is empty", todo="set argv")
        return Program(
            argv=(json.dumps(self.argv),),
            entry="chaos_command:main",
            files=shipped(name, "chaos_rank", "chaos_command"),
            environment={"PYTHONPATH": place(name)},
        )

    def read(self, line: str) -> Reading | None:
        """An event of the launcher or of the rank, or a line of the command in which the pattern finds a step."""
        event = read_event(line)
        if event is None:
            return self._progress(line, Reading("rank.step", None, {}))
        if event.what != "output":
            return event
        return self._progress(str(event.data.get("text", "")), replace(event, what="rank.step"))

    def _progress(self, text: str, around: Reading) -> Reading | None:
        """A number that is none makes the line say nothing: what could not be read is not zero."""
        found = re.search(self.pattern, text)
        if found is None:
            return None
        words = {key: value for key, value in found.groupdict().items() if value is not None}
        try:
            data: dict[str, Any] = {"rank": int(words.get("rank", around.data.get("rank", 0))), "step": int(words["step"])}
            if "loss" in words:
                data["loss"] = float(words["loss"]).hex()
            if "time" in words:
                data["seconds"] = float(words["time"]) * _SECONDS[self.time_unit]
        except (KeyError, TypeError, ValueError):
            return None
        return replace(around, data=data)
