"""Questions that the agent answers itself, without starting a process where that is possible. Every answer is one JSON object."""

import hashlib
import json
import os
import socket
import subprocess
from typing import Any, Callable, Dict, List, Optional

from . import processes
from .homes import Home

Facts = Dict[str, Any]
Deadline = Optional[float]


def text_of(path: str) -> str:
    """The text of a small file; empty when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def number_of(path: str) -> Optional[int]:
    """The number in a small file, or None."""
    text = text_of(path)
    return int(text) if text.lstrip("-").isdigit() else None


def link(arguments: Facts, _home: Home, _deadline: Deadline) -> Facts:
    """An interface as it is: states and counters from sysfs, addresses and routes from ``ip -j``."""
    name = str(arguments["interface"])
    place = "/sys/class/net/%s" % name
    if not os.path.isdir(place):
        return {"exists": False, "interface": name}
    flags = text_of(place + "/flags")
    return {
        "exists": True,
        "interface": name,
        "operstate": text_of(place + "/operstate"),
        "carrier": number_of(place + "/carrier"),
        "carrier_changes": number_of(place + "/carrier_changes"),
        "mtu": number_of(place + "/mtu"),
        "mac": text_of(place + "/address"),
        "is_up": bool(int(flags, 16) & 1) if flags else None,
        "addresses": _addresses(name),
        "routes": _routes(name),
    }


def _ip(*words: str) -> List[Facts]:
    try:
        ended = subprocess.run(["ip", "-j", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5, check=False)
        found = json.loads(ended.stdout or b"[]")
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    return [each for each in found if isinstance(each, dict)]


def _addresses(name: str) -> List[str]:
    entries = [info for each in _ip("addr", "show", "dev", name) for info in each.get("addr_info", [])]
    return ["%s/%s" % (e["local"], e["prefixlen"]) for e in entries if e.get("scope") != "link" and e.get("local")]


def _routes(name: str) -> List[Facts]:
    return [dict(route, family=family) for family in ("-4", "-6") for route in _ip(family, "route", "show", "dev", name)]


def process(arguments: Facts, _home: Home, _deadline: Deadline) -> Facts:
    """A process by pid; with ``started`` another one under the same pid does not exist."""
    pid = int(arguments["pid"])
    seen = processes.stat(pid)
    wanted = arguments.get("started")
    if seen is None or (wanted is not None and int(wanted) != seen[2]):
        return {"exists": False, "pid": pid}
    command = text_of("/proc/%d/cmdline" % pid).replace("\0", " ").strip()
    return {
        "exists": seen[0] not in "ZX",
        "pid": pid,
        "state": seen[0],
        "parent": seen[1],
        "started": seen[2],
        "command": command,
    }


def file(arguments: Facts, home: Home, _deadline: Deadline) -> Facts:
    """A file's size, mode and hash."""
    path = home.fill(str(arguments["path"]))
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return {"exists": False, "path": path}
    found = {"exists": True, "path": path, "size": seen.st_size, "mode": seen.st_mode & 0o7777, "is_file": os.path.isfile(path)}
    if arguments.get("hash", True) and os.path.isfile(path):
        digest = hashlib.sha256()
        with open(path, "rb") as source:
            for block in iter(lambda: source.read(1 << 20), b""):
                digest.update(block)
        found["sha256"] = digest.hexdigest()
    if arguments.get("text"):
        found["text"] = text_of(path)
    return found


def boot(_arguments: Facts, _home: Home, _deadline: Deadline) -> Facts:
    """Which boot this is, and how the machine is loaded."""
    return {"boot_id": boot_id(), "uptime": float((text_of("/proc/uptime") or "0").split()[0]), "load": text_of("/proc/loadavg")}


def boot_id() -> str:
    """The boot id of the kernel as this node sees it."""
    return text_of("/proc/sys/kernel/random/boot_id")


def nvml(_arguments: Facts, _home: Home, deadline: Deadline) -> Facts:
    """Devices as NVML shows them, asked in a child that may be abandoned: a driver call can hang without end."""
    from . import nvml as library

    return library.read_apart(5.0 if deadline is None else min(5.0, deadline))


def spawned(arguments: Facts, home: Home, _deadline: Deadline) -> Facts:
    """A spawned program by name."""
    from . import jobs

    return jobs.state(home, str(arguments["name"]), folder="spawned")


def cgroup(arguments: Facts, home: Home, deadline: Deadline) -> Facts:
    """The cgroup of a process, or the counters of one by path; versions 1 and 2."""
    if "pid" in arguments:
        return _cgroup_of(int(arguments["pid"]))
    path = str(arguments["path"])
    control = text_of(path + "/memory.oom_control") or text_of(path + "/memory.events")
    counts = dict(line.split() for line in control.splitlines() if len(line.split()) == 2)
    return {
        "exists": os.path.isdir(path),
        "path": path,
        "oom_kills": int(counts["oom_kill"]) if counts.get("oom_kill", "").isdigit() else None,
        "limit": text_of(path + "/memory.limit_in_bytes") or text_of(path + "/memory.max"),
        "processes": [int(pid) for pid in text_of(path + "/cgroup.procs").split()],
    }


def _cgroup_of(pid: int) -> Facts:
    version = 1 if os.path.isdir("/sys/fs/cgroup/memory") else 2
    root = "/sys/fs/cgroup/memory" if version == 1 else "/sys/fs/cgroup"
    for line in text_of("/proc/%d/cgroup" % pid).splitlines():
        number, controllers, path = line.split(":", 2)
        if (version == 1 and "memory" in controllers.split(",")) or (version == 2 and number == "0"):
            return {"exists": True, "version": version, "root": root, "path": root + path.rstrip("/"), "pid": pid}
    return {"exists": False, "version": version, "root": root, "pid": pid}


def ssh_peer(_arguments: Facts, home: Home, _deadline: Deadline) -> Facts:
    """The interface and addresses of the session over which the controller talks to this agent."""
    words = text_of(home.at("ssh_connection")).split()
    if len(words) != 4:
        return {"interface": "", "why": "the session did not name its connection"}
    peer, local = words[0], words[2]
    for each in _ip("addr", "show"):
        if any(info.get("local") == local.split("%")[0] for info in each.get("addr_info", [])):
            return {"interface": each.get("ifname", ""), "local": local, "peer": peer}
    return {"interface": "", "local": local, "peer": peer, "why": "no interface has the local address"}


def identity(_arguments: Facts, _home: Home, _deadline: Deadline) -> Facts:
    """Who this node says it is."""
    return {"hostname": socket.gethostname(), "machine_id": text_of("/etc/machine-id")}


def ranks(arguments: Facts, home: Home, _deadline: Deadline) -> Facts:
    """The last ranks that a job's programs announced on this node, with the state of their processes."""
    found: Dict[int, Facts] = {}
    for line in text_of(home.at("jobs", str(arguments["job"]), "events")).splitlines():
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and document.get("what") == "rank.up" and isinstance(document.get("data"), dict):
            found[int(document["data"].get("rank", -1))] = document["data"]
    for data in found.values():
        seen = processes.stat(int(data.get("pid", 0)))
        data["state"] = seen[0] if seen and seen[2] == data.get("started") else "gone"
    return {"ranks": list(found.values())}


SUBJECTS: Dict[str, Callable[[Facts, Home, Deadline], Facts]] = {
    "link": link,
    "process": process,
    "file": file,
    "boot": boot,
    "nvml": nvml,
    "spawned": spawned,
    "cgroup": cgroup,
    "ssh_peer": ssh_peer,
    "identity": identity,
    "ranks": ranks,
}
