"""A small lab of a test's own, beside whatever other labs are up on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chaos.lab.cleaning import left_links
from chaos.lab.lifecycle import ask
from chaos.lab.plan import LabPlan, plan_lab
from chaos.lab.probe import probe


def small_lab(name: str, *, nodes: int, spares: int) -> LabPlan:
    """A plan whose name and networks no other process's tests have."""
    ground = probe()
    if ground.tier == "none":
        pytest.skip(ground.why)
    number = os.getpid()
    third = number // 10 % 16 * 16 + (8 if name == "k" else 0)
    networks = [f"10.{80 + number % 10}.{third + offset}.0/22" for offset in (0, 4)]
    return plan_lab(name=f"{name}{number}", nodes=nodes, spares=spares, management=networks[0], training=networks[1])


def ssh(lab: LabPlan, node: str, *command: str, **options: object) -> str:
    """What a command on a node prints, over the SSH configuration that the lab wrote."""
    words = ["ssh", "-F", f"{lab.state}/ssh_config", "-o", "ConnectTimeout=5", node, *command]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, **options).stdout.strip()


def to_supervisor(lab: LabPlan, verb: str, **given: object) -> object:
    """A request to the lab's supervisor."""
    return ask(f"{lab.state}/supervisor.sock", {"do": verb, **given})


def is_on(lab: LabPlan, node: str) -> bool:
    """Whether a node has power."""
    return next(each["is_on"] for each in to_supervisor(lab, "status")["nodes"] if each["name"] == node)


def left_on_host(lab: LabPlan) -> dict[str, list[str]]:
    """What there is of a lab on the host, found without asking it."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cgroup").read_text() + (entry / "cmdline").read_text(errors="replace")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX" and (f"/chaos-lab/{lab.name}/" in words or f"{lab.state}\0" in words):
                processes.append(entry.name)
    return {
        "links": list(left_links(lab)),
        "mounts": [line for line in Path("/proc/self/mounts").read_text().splitlines() if lab.state in line],
        "cgroups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/chaos-lab/{lab.name}")],
        "files": [str(path) for path in Path(lab.state).glob("*")],
        "processes": processes,
    }
