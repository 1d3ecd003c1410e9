"""The programs that loads send to nodes, and the lines that these write."""

from __future__ import annotations

import json
from importlib.resources import files

from chaos.model.acts import WriteFile
from chaos.protocols.workload import Reading


def folder(name: str) -> str:
    """Where the programs of the load with this name lie on a node."""
    return f"{{home}}/jobs/{name}"


def programs(name: str, *programs: str) -> tuple[WriteFile, ...]:
    """The files of ``programs/`` under these names, to be written on a node."""
    texts = files("chaos.workloads").joinpath("programs")
    return tuple(WriteFile(f"{folder(name)}/{program}", texts.joinpath(program).read_text("utf-8")) for program in programs)


def read_event(line: str) -> Reading | None:
    """The event in one JSON line, or None when the line is none: a program's own output may stand between the events."""
    try:
        document = json.loads(line)
        what, at, data = document["what"], document["at"], document["data"]
    except (ValueError, TypeError, KeyError):
        return None
    if not isinstance(what, str) or not isinstance(at, int | float) or isinstance(at, bool) or not isinstance(data, dict):
        return None
    return Reading(what, float(at), data)
