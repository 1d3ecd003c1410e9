"""Reading what an agent answered. Whatever is not exactly what was expected is Unknown, with the text kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from chaos.model.acts import Answer, Run
from chaos.model.unknown import Unknown

Shape = Mapping[str, type | tuple[type, ...]]


def document(answer: Answer, shape: Shape) -> dict[str, Any] | Unknown:
    """The JSON object in an answer when it has at least these keys with values of these types."""
    if answer.timed_out or not answer.is_done:
        return Unknown("no answer in time" if answer.timed_out else "the question could not be asked", answer.tail)
    try:
        found = json.loads(answer.stdout)
    except ValueError:
        return Unknown("the answer is not JSON", answer.tail)
    return shaped(found, shape)


def shaped(found: Any, shape: Shape) -> dict[str, Any] | Unknown:
    """A value when it is an object of this shape. A truth value is no number."""
    if not isinstance(found, dict):
        return Unknown("the answer is no object", str(found)[:400])
    for key, wanted in shape.items():
        value = found.get(key)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is int):
            return Unknown(f"the answer has no usable {key!r}", str(found)[:400])
    return found


def program(name: str, *arguments: str) -> Run:
    """A program of ours, run by the node's own Python from its standard input and with nothing of the site's settings.

    Its name goes along as the first argument, for whoever reads the record or a list of processes.
    """
    text = resources.files("chaos.vendors").joinpath("programs", f"{name}.py").read_text(encoding="utf-8")
    return Run(("python3", "-S", "-E", "-", name, *arguments), stdin=text)
