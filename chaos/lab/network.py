"""Cables and bridges, as batches for ``ip``. The fabric lives in a namespace of its own: the host has no address on it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from ipaddress import IPv4Network

from chaos.errors import CommandFailed
from chaos.lab.plan import LabPlan, NodePlan


def host_batch(lab: LabPlan) -> tuple[str, ...]:
    """The management bridge with the controller's address."""
    bits = IPv4Network(lab.management).prefixlen
    return (
        f"link add {lab.bridge} type bridge",
        f"addr add {lab.controller}/{bits} dev {lab.bridge}",
        f"link set {lab.bridge} up",
    )


def switch_batch() -> tuple[str, ...]:
    """The fabric's bridge, inside the switch."""
    return ("link add fabric type bridge", "link set fabric up", "link set lo up")


def cable_batch(lab: LabPlan, node: NodePlan, pid: int) -> tuple[str, ...]:
    """The management cable of a node, on the host."""
    port = lab.port(node)
    return (
        f"link add {port} type veth peer name eth0 address {node.mac(0)} netns {pid}",
        f"link set {port} master {lab.bridge} up",
    )


def fabric_batch(node: NodePlan, pid: int) -> tuple[str, ...]:
    """The training cable of a node, in the switch."""
    return (
        f"link add r{node.number} type veth peer name rdma0 address {node.mac(1)} netns {pid}",
        f"link set r{node.number} master fabric up",
    )


def address_batch(lab: LabPlan, node: NodePlan) -> tuple[str, ...]:
    """The node's own addresses, inside it."""
    management, training = IPv4Network(lab.management).prefixlen, IPv4Network(lab.training).prefixlen
    return (
        "link set lo up",
        f"addr add {node.management}/{management} dev eth0",
        f"addr add {node.training}/{training} dev rdma0",
        "link set eth0 up",
        "link set rdma0 up",
        f"route add default via {lab.controller}",
    )


def ip_batch(lines: Iterable[str], *, inside: int | None = None, force: bool = False) -> None:
    """Runs a batch, in the network namespace of a process when one is named. ``force``: go on after lines that fail.

    Raises:
        CommandFailed: ``ip`` refused a line.
    """
    enter = ["nsenter", "-t", str(inside), "-n"] if inside else []
    words = [*enter, "ip", *(["-force"] if force else []), "-batch", "-"]
    ended = subprocess.run(words, input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    if ended.returncode and not force:
        raise CommandFailed("lay the lab's cables", exit_status=ended.returncode, tail=ended.stderr.strip()[-400:])
