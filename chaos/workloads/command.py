"""A user's own job: any command, its progress read by a pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.progress import read_event


@dataclass(frozen=True, slots=True)
class Command(Workload):
    r"""Any command, once per rank, with a pattern that finds its progress: named groups ``step``, ``loss``, ``rank``.

    Example pattern: ``step (?P<step>\d+).*loss (?P<loss>[\d.]+)``.
    """

    kind: ClassVar[str] = "command"
    title: ClassVar[str] = "A command of your own"

    argv: tuple[str, ...] = ("true",)
    pattern: str = r"step\s*(?P<step>\d+)"
    checkpoint_interval: int | None = None

    def __post_init__(self) -> None:
        """Refuses a pattern that could find no step."""
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
        """The command as it is."""
        del node, name
        return Program(self.argv, "", (), {})

    def read(self, line: str) -> Reading | None:
        """An event of the launcher, or a line in which the pattern finds a step."""
        event = read_event(line)
        if event is not None:
            return event
        found = re.search(self.pattern, line)
        if found is None or not found["step"].isdigit():
            return None
        words = {key: value for key, value in found.groupdict().items() if value is not None}
        return Reading("rank.step", None, {**words, "step": int(found["step"]), "rank": int(words.get("rank", "0"))})
