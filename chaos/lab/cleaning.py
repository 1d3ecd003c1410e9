"""Finds what a lab left on the host by name, whatever became of its supervisor, and takes it away."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

from chaos.lab import cgroups, network
from chaos.lab.plan import STATE, LabPlan


def start_time(pid: int) -> int:
    """When a process started, in clock ticks after boot; 0 when there is none, or only its exit status is left."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    fields = text.rpartition(")")[2].split()
    return 0 if fields[0] in "ZX" else int(fields[19])


def end_process(pid: int, started: int, *, patience: float = 5.0) -> bool:
    """Ends the process with this pid and start time; True when it is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if start_time(pid) != started:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + patience
        while start_time(pid) == started and time.monotonic() < deadline:
            time.sleep(0.02)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # it is a child of this process when one process brought the lab up and takes it down
    return start_time(pid) != started


def left_links(lab: LabPlan) -> tuple[str, ...]:
    """Network interfaces of this lab on the host."""
    return tuple(sorted(name for name in os.listdir("/sys/class/net") if name == lab.bridge or name.startswith(f"{lab.prefix}m")))


def clean(lab: LabPlan) -> tuple[str, ...]:
    """Takes away links, cgroups and the state folder; what could not be taken away, in words."""
    links = left_links(lab)
    if links:
        network.ip_batch([f"link del {name}" for name in links], force=True)
    _wait_gone(lab)
    cgroups.remove(lab.name)
    shutil.rmtree(lab.state, ignore_errors=True)
    for folder in (Path(STATE),):
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
    return tuple(f"link {name}" for name in left_links(lab)) + ((f"folder {lab.state}",) if Path(lab.state).exists() else ())


def _wait_gone(lab: LabPlan) -> None:
    deadline = time.monotonic() + 3.0
    while left_links(lab) and time.monotonic() < deadline:
        time.sleep(0.02)
