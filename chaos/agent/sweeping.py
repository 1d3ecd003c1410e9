"""Finds what any run left on this node, from the node alone, and takes it away."""

import os
import shutil
import subprocess
from typing import List

from . import guards, jobs, processes
from .consult import text_of
from .homes import Home, all_homes

PREFIX = "chaos-"
LAB = "chaos-lab"
"""A virtual cluster on this machine sweeps its own nodes."""
PAYLOADS = "/run/chaos/payload"


def sweep(own: Home, remove: bool) -> List[str]:
    """What is left, in words; with ``remove`` what could not be taken away.

    The folder of the run that asks is its own affair: only what it left *active* (guards, spawned programs) is listed.
    """
    found: List[str] = []
    for home in all_homes():
        found += _guards(home, remove) + _spawned(home, remove)
        if home.path != own.path:
            found += _home(home, remove)
    return found + _tables(remove) + _cgroups(remove) + _payloads(remove)


def _guards(home: Home, remove: bool) -> List[str]:
    left: List[str] = []
    for state in guards.states(home):
        if state["state"] not in guards.UNDONE:
            continue
        if not remove:
            left.append("guard %s (%s)" % (state["id"], state["state"]))
            continue
        fired = guards.fire(home, state["id"])
        left += ["guard %s: %s" % (state["id"], words) for words in fired["failures"]]
    return left


def _spawned(home: Home, remove: bool) -> List[str]:
    names = [name for name in jobs.names(home, "spawned") if jobs.state(home, name, "spawned")["is_running"]]
    if remove:
        names = [name for name in names if jobs.stop(home, name, 1.0, "spawned")["is_running"]]
    return ["program %s" % name for name in names]


def _home(home: Home, remove: bool) -> List[str]:
    """The folder of another run: its jobs and its daemon are ended with it."""
    if not remove:
        return ["run %s" % os.path.basename(home.path)]
    for name in jobs.names(home):
        jobs.stop(home, name, 1.0)
    for pid in _daemons(home):
        processes.end_tree(pid, processes.started(pid), 1.0)
    shutil.rmtree(home.path, ignore_errors=True)
    remove_empty(os.path.dirname(home.path))
    return ["run %s" % os.path.basename(home.path)] if os.path.exists(home.path) else []


def _daemons(home: Home) -> List[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = text_of("/proc/%s/cmdline" % name).split("\0")
            if "daemon" in words and home.path in words:
                found.append(int(name))
    return found


def _tables(remove: bool) -> List[str]:
    """Netfilter tables of ours, by prefix; those of others are not looked at."""
    if not shutil.which("nft"):
        return []
    ended = subprocess.run(["nft", "list", "tables"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10, check=False)
    ours = [line.split()[1:3] for line in ended.stdout.decode(errors="replace").splitlines() if " chaos_" in line]
    left = []
    for family, name in ours:
        if not remove or subprocess.run(["nft", "delete", "table", family, name], timeout=10, check=False).returncode:
            left.append("table %s %s" % (family, name))
    return left


def _cgroups(remove: bool) -> List[str]:
    left = []
    for path, folders, _ in os.walk("/sys/fs/cgroup"):
        if path.count("/") > 8:
            folders.clear()
        folders[:] = [name for name in folders if name != LAB]
        for name in [name for name in folders if name.startswith(PREFIX)]:
            left += _cgroup(os.path.join(path, name), remove)
    return left


def _cgroup(path: str, remove: bool) -> List[str]:
    if not remove:
        return ["cgroup %s" % path]
    parent = os.path.join(os.path.dirname(path), "cgroup.procs")
    try:
        for pid in text_of(os.path.join(path, "cgroup.procs")).split():
            with open(parent, "w", encoding="ascii") as file:
                file.write(pid)
        os.rmdir(path)
    except OSError as error:
        return ["cgroup %s: %s" % (path, error)]
    return []


def _payloads(remove: bool) -> List[str]:
    if not os.path.isdir(PAYLOADS):
        return []
    names = sorted(os.listdir(PAYLOADS))
    if not remove:
        return ["payload %s" % name for name in names]
    shutil.rmtree(PAYLOADS, ignore_errors=True)
    remove_empty(os.path.dirname(PAYLOADS))
    return ["payload folder %s" % PAYLOADS] if os.path.exists(PAYLOADS) else []


def remove_empty(folder: str) -> None:
    """Takes an empty folder of ours away."""
    try:
        os.rmdir(folder)
    except OSError:
        return
