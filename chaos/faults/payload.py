"""What a fault brings to a node: named after its injection, so that a sweep finds it and two faults never share it."""

from __future__ import annotations

import re
from importlib import resources

from chaos.protocols.fault import Target


def tag(target: Target) -> str:
    """The injection's id in letters that a table, a cgroup, a program and a folder may all be named with."""
    return re.sub(r"[^A-Za-z0-9]", "_", target.injection)


def folder(target: Target) -> str:
    """Where the payload of an injection lies on the node: in the agent's own folder, which is in memory and goes when the agent leaves."""
    return f"{{home}}/payload/{tag(target)}"


def program(name: str) -> str:
    """The text of a program that a fault starts on a node."""
    return resources.files("chaos.faults").joinpath("programs", f"{name}.py").read_text(encoding="utf-8")


def interpreter(path: str, *arguments: str) -> tuple[str, ...]:
    """The node's own Python on a program, without the site's settings."""
    return ("python3", "-S", "-E", path, *arguments)


def marked(text: str, target: Target) -> str:
    """A kernel-log line that says that it was injected, and by which injection."""
    return f"{text} [chaos {target.injection}]"
