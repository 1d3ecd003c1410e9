"""The inside of a node: its own root over the host's, and the files that make it a machine of its own. Runs as the node's first process."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from chaos.lab import kernel
from chaos.lab.plan import LabPlan, NodePlan

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "fuse", "net/tun")
_OWN = ("run", "tmp", "dev/shm", "var/log")
_INIT = """#!/bin/sh
exec 3<>/dev/kmsg
(
  n=0
  while IFS= read -r line <&3; do
    case "$line" in
      '<'*'>'*) level=${line#<}; level=${level%%>*}; text=${line#*>} ;;
      *) level=12; text=$line ;;
    esac
    read -r up rest < /proc/uptime
    printf '%s,%s,%s0000,-;%s\\n' "$level" "$n" "${up%.*}${up#*.}" "$text" >> /run/lab/kmsg
    n=$((n + 1))
  done
) &
/usr/sbin/sshd -D -e -f /etc/ssh/sshd_config 2> /var/log/sshd &
trap : CHLD
while :; do sleep 3600 & nap=$!; wait $nap; kill $nap 2> /dev/null; wait $nap; done
"""
_SSHD = """Port 22
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/lab_authorized_keys
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
StrictModes no
PrintMotd no
MaxStartups 200:30:400
MaxSessions 100
PidFile /run/sshd.pid
Subsystem sftp internal-sftp
"""


def enter(lab: LabPlan, node: NodePlan, cgroups: tuple[tuple[str, str], ...]) -> None:
    """Builds the root and moves into it. ``cgroups``: (folder of this node on the host, where it is seen in the node)."""
    kernel.set_hostname(node.name)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base = f"{lab.state}/root"
    kernel.mount("tmpfs", base, "tmpfs", options="mode=755")
    root = f"{base}/merged"
    for name in ("upper", "work", "merged"):
        os.mkdir(f"{base}/{name}")
    kernel.mount("overlay", root, "overlay", options=f"lowerdir=/,upperdir={base}/upper,workdir={base}/work,index=off")
    _mount_own(root)
    _mount_cgroups(root, cgroups)
    _mount_shared(lab, root)
    _make_devices(root)
    _write_files(lab, node, root)
    os.mkdir(f"{root}/.host")
    kernel.pivot_root(root, f"{root}/.host")
    os.chdir("/")
    kernel.unmount("/.host")
    os.rmdir("/.host")


def _mount_own(root: str) -> None:
    kernel.mount("proc", f"{root}/proc", "proc", flags=kernel.MS_NOSUID | kernel.MS_NODEV)
    kernel.mount("sysfs", f"{root}/sys", "sysfs", flags=kernel.MS_NOSUID | kernel.MS_NODEV)
    kernel.mount("tmpfs", f"{root}/dev", "tmpfs", options="mode=755")
    for place in _OWN:
        os.makedirs(f"{root}/{place}", exist_ok=True)
        kernel.mount("tmpfs", f"{root}/{place}", "tmpfs", options="mode=1777" if place in {"tmp", "dev/shm"} else "mode=755")
    os.makedirs(f"{root}/run/lab")
    boot = Path(f"{root}/run/lab/boot_id")
    boot.write_text(f"{uuid.uuid4()}\n")
    kernel.mount(str(boot), f"{root}/proc/sys/kernel/random/boot_id", flags=kernel.MS_BIND)


def _mount_cgroups(root: str, cgroups: tuple[tuple[str, str], ...]) -> None:
    if not cgroups:
        return
    kernel.mount("tmpfs", f"{root}/sys/fs/cgroup", "tmpfs", options="mode=755")
    for source, seen_at in cgroups:
        os.makedirs(f"{root}{seen_at}", exist_ok=True)
        kernel.mount(source, f"{root}{seen_at}", flags=kernel.MS_BIND)


def _mount_shared(lab: LabPlan, root: str) -> None:
    """The folder that all nodes share, and folders of the host that lie on other file systems than its root."""
    os.makedirs(f"{root}/shared", exist_ok=True)
    kernel.mount(f"{lab.state}/shared", f"{root}/shared", flags=kernel.MS_BIND)
    for place in needed_folders():
        os.makedirs(root + place, exist_ok=True)
        kernel.mount(place, root + place, flags=kernel.MS_BIND | kernel.MS_REC)


def needed_folders() -> tuple[str, ...]:
    """Folders that the interpreter needs and a node's root does not show: on other file systems, or below what is the node's own."""
    import sys  # noqa: PLC0415 - the interpreter's own places matter only here

    device = Path("/").stat().st_dev
    places = {sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[2])}
    hidden = tuple(f"/{own}/" for own in _OWN)
    return tuple(sorted(place for place in places if place.startswith(hidden) or Path(place).stat().st_dev != device))


def _make_devices(root: str) -> None:
    for name in _DEVICES:
        if not os.path.exists(f"/dev/{name}"):
            continue
        place = Path(f"{root}/dev/{name}")
        place.parent.mkdir(exist_ok=True)
        place.touch()
        kernel.mount(f"/dev/{name}", str(place), flags=kernel.MS_BIND)
    os.mkdir(f"{root}/dev/pts")
    kernel.mount("devpts", f"{root}/dev/pts", "devpts", options="newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{root}/dev/{name}")
    os.mkfifo(f"{root}/dev/kmsg", 0o600)
    Path(f"{root}/run/lab/kmsg").touch()


def _write_files(lab: LabPlan, node: NodePlan, root: str) -> None:
    hosts = [f"127.0.0.1 localhost\n{lab.controller} controller\n"]
    hosts += [f"{each.management} {each.name}\n" for each in lab.nodes]
    files = {
        "etc/hostname": f"{node.name}\n",
        "etc/hosts": "".join(hosts),
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
        "etc/resolv.conf": "",
        "etc/shadow": "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n",
        "etc/ssh/sshd_config": _SSHD,
        "etc/motd": "",
        "root/.bashrc": "",
        "root/.profile": "",
        "run/lab/init": _INIT,
    }
    for name, text in files.items():
        _replace(f"{root}/{name}", text)
    shutil.rmtree(f"{root}/root/.ssh", ignore_errors=True)
    shutil.copy(f"{lab.state}/keys/{node.name}", f"{root}/etc/ssh/ssh_host_ed25519_key")
    shutil.copy(f"{lab.state}/id_ed25519.pub", f"{root}/etc/ssh/lab_authorized_keys")
    for name in ("ssh_host_ed25519_key", "lab_authorized_keys"):
        os.chmod(f"{root}/etc/ssh/{name}", 0o600)
    os.makedirs(f"{root}/run/sshd", exist_ok=True)


def _replace(path: str, text: str) -> None:
    """A link is replaced, not followed: it would lead out of the node's own files."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.write_text(text)
