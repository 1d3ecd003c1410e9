"""The text of the programs that launchers send to nodes."""

from __future__ import annotations

from importlib.resources import files


def program_text(name: str) -> str:
    """The text of ``programs/<name>``."""
    return files("chaos.launchers").joinpath("programs", name).read_text("utf-8")
