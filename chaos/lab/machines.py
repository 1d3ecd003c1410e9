"""Starting and losing nodes: real processes in namespaces of their own. The caller is their parent and their BMC."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from chaos.lab import cgroups, kernel, network, root, simulator
from chaos.lab.plan import LabPlan, NodePlan

_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET


def start_switch() -> int:
    """The process that holds the fabric's network namespace; its pid."""

    def hold() -> None:
        os.execvp("sleep", ["sleep", "infinity"])

    return _born(kernel.CLONE_NEWNET | kernel.CLONE_NEWPID, lambda _pid: None, hold)


def start_node(lab: LabPlan, node: NodePlan, switch: int) -> int:
    """Boots a node; the pid of its first process on the host."""

    def prepare(pid: int) -> None:
        cgroups.place(lab.name, node.name, pid)
        network.ip_batch(network.cable_batch(lab, node, pid))
        network.ip_batch(network.fabric_batch(node, pid), inside=switch)

    library = simulator.build(simulator.cache()).read_bytes()

    def become() -> None:
        kernel.unshare(kernel.CLONE_NEWCGROUP)
        root.enter(lab, node, cgroups.seen_in(lab.name, node.name))
        simulator.install(node.name, node.gpus, library)
        network.ip_batch(network.address_batch(lab, node))
        kernel.drop_capabilities()
        os.execve("/bin/sh", ["sh", "/run/lab/init"], {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})

    return _born(_NAMESPACES, prepare, become)


def _born(namespaces: int, prepare: Callable[[int], None], become: Callable[[], None]) -> int:
    """Forks a process into new namespaces. ``prepare`` runs here once its pid is known, ``become`` there afterwards."""
    told, tells = os.pipe()
    waits, goes = os.pipe()
    outer = os.fork()
    if outer == 0:
        _outer(namespaces, (told, tells, waits, goes), become)
    os.close(tells)
    os.close(waits)
    try:
        os.waitpid(outer, 0)
        words = os.read(told, 64)
        if not words:
            raise OSError(0, "the node's first process could not be started: see the supervisor's log")
        pid = int(words)
        try:
            prepare(pid)
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        os.write(goes, b"g")
    finally:
        os.close(told)
        os.close(goes)
    return pid


def _outer(namespaces: int, pipes: tuple[int, int, int, int], become: Callable[[], None]) -> None:
    """Between the two forks: only a child of this process enters the new pid namespace."""
    told, tells, waits, goes = pipes
    os.close(told)
    os.close(goes)
    try:
        os.setsid()
        kernel.unshare(namespaces)
        pid = os.fork()
        if pid:
            os.write(tells, str(pid).encode())
            os._exit(0)
        os.close(tells)
        if os.read(waits, 1) != b"g":
            os._exit(1)
        os.close(waits)
        kernel.die_with_parent()
        become()
    except BaseException as error:  # noqa: BLE001 - nothing may return into the supervisor's own code here
        os.write(2, f"a node could not be booted: {type(error).__name__}: {error}\n".encode())
    os._exit(1)
