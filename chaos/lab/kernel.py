"""The kernel calls that a node is made of and that Python does not offer everywhere."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MS_NOSUID = 0x2
MS_NODEV = 0x4
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36

_DROPPED = {"sys_module": 16, "sys_rawio": 17, "sys_time": 25, "syslog": 34, "wake_alarm": 35, "block_suspend": 36}
"""Capabilities by which root in a node would be root over the machine: modules, raw IO, the clock, the kernel's log."""
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leaves namespaces behind."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mounts a file system, or binds one."""
    _check(
        _libc.mount(source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None),
        f"mount {kind or 'bind'} {source} on {target}",
    )


def unmount(target: str) -> None:
    """Detaches a mount."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Makes another folder the root."""
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(ctypes.c_long(number), new.encode(), old.encode()), "pivot_root")


def set_hostname(name: str) -> None:
    """Names the UTS namespace."""
    _check(_libc.sethostname(name.encode(), len(name)), "sethostname")


def die_with_parent() -> None:
    """The kernel kills this process when its parent dies."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Processes below this one that lose their parent become its children."""
    _check(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    """Takes from this process and all below it what reaches beyond the node."""
    for number in _DROPPED.values():
        _check(_libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0), "prctl")
