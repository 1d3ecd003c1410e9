"""Programs as they travel: text beside the code, written into the agent's folder on the node."""

from __future__ import annotations

from importlib import resources

from chaos.model.acts import WriteFile


def shipped(name: str, *modules: str) -> tuple[WriteFile, ...]:
    """The named program modules, below the workload's folder in the agent's home."""
    folder = resources.files("chaos.workloads").joinpath("programs")
    return tuple(
        WriteFile(place(name, f"{module}.py"), folder.joinpath(f"{module}.py").read_text(encoding="utf-8")) for module in modules
    )


def place(name: str, file: str = "") -> str:
    """Where a workload's files lie on a node."""
    return f"{{home}}/programs/{name}/{file}".rstrip("/")
