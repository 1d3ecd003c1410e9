"""Reading the events that our own programs write, one JSON object a line."""

from __future__ import annotations

import json

from chaos.protocols.workload import Reading


def read_event(line: str) -> Reading | None:
    """The event in a line; None for a line that is none, such as a traceback."""
    try:
        document = json.loads(line)
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("what"), str) or not isinstance(document.get("data"), dict):
        return None
    at = document.get("at")
    return Reading(document["what"], float(at) if isinstance(at, int | float) else None, document["data"])
