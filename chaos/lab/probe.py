"""What this machine can do for a lab: asked of the kernel itself, and said in words."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOLS = {"sshd": "openssh-server", "ssh-keygen": "openssh-client", "ip": "iproute2", "nsenter": "util-linux", "nft": "nftables"}


@dataclass(frozen=True, slots=True)
class Ground:
    """The machine under the lab. ``tier``: ``root`` has everything; ``none`` cannot hold a lab, ``why`` says why."""

    tier: str
    why: str
    missing_packages: tuple[str, ...]
    missing_abilities: tuple[str, ...]


def probe() -> Ground:
    """Looks at rights, tools and kernel."""
    packages = tuple(package for tool, package in TOOLS.items() if not _has(tool))
    if not any(_has(name) for name in ("cc", "gcc", "clang")):
        packages += ("gcc", "libc6-dev")
    why = ""
    if os.geteuid() != 0:
        why = "only root can make the namespaces, bridges and overlays that a lab is built of; everything that needs no lab works"
    elif packages:
        why = f"these Debian packages are missing: {' '.join(packages)}"
    return Ground("none" if why else "root", why, packages, _missing_abilities() if not why else ())


def _has(tool: str) -> bool:
    return shutil.which(tool) is not None or Path(f"/usr/sbin/{tool}").exists()


def _missing_abilities() -> tuple[str, ...]:
    """What faults would like to use and this kernel does not have; each has a stand-in or is reported as not applicable."""
    missing = []
    if not _kernel_knows_netem():
        missing.append("netem (delay, corruption and reordering on links)")
    if not Path("/dev/mapper/control").exists():
        missing.append("device mapper (slow and failing disks)")
    if not any(Path(place).exists() for place in ("/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/cgroup.controllers")):
        missing.append("memory cgroups")
    return tuple(missing)


def _kernel_knows_netem() -> bool:
    """Tried on the loopback interface of a network namespace that goes with the trial."""
    words = ["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    return shutil.which("tc") is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0
