"""A cgroup for each node, on version 1 and version 2, so that a fault of memory or CPU stays inside it."""

from __future__ import annotations

import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "cpu", "freezer", "pids")


def _hierarchies() -> tuple[tuple[Path, str], ...]:
    """(root of a hierarchy on the host, where a node sees its own part)."""
    if (ROOT / "cgroup.controllers").exists():
        return ((ROOT, str(ROOT)),)
    return tuple((ROOT / name, str(ROOT / name)) for name in CONTROLLERS if (ROOT / name / "cgroup.procs").exists())


def place(lab: str, node: str, pid: int) -> None:
    """Moves a process, and all that it will start, into the node's cgroups."""
    for root, _ in _hierarchies():
        folder = root / "chaos-lab" / lab / node
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.procs").write_text(str(pid))


def seen_in(lab: str, node: str) -> tuple[tuple[str, str], ...]:
    """What is bound where inside a node."""
    return tuple((str(root / "chaos-lab" / lab / node), seen) for root, seen in _hierarchies())


def remove(lab: str, node: str = "") -> None:
    """Takes a node's cgroups away, or a whole lab's, with all that was made below them."""
    for root, _ in _hierarchies():
        top = root / "chaos-lab" / lab / node if node else root / "chaos-lab" / lab
        for path, _, _ in os.walk(top, topdown=False):
            _rmdir(Path(path))
        if not node:
            _rmdir(root / "chaos-lab")


def _rmdir(path: Path) -> None:
    """A cgroup empties a moment after its last process died."""
    for _ in range(50):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if any(child.is_dir() for child in path.iterdir()):
                return
            time.sleep(0.02)
        else:
            return
