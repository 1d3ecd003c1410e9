"""The accelerator that a fault strikes, and what its driver would say."""

from __future__ import annotations

from chaos.errors import Unsupported
from chaos.faults.payload import marked
from chaos.model.acts import Script
from chaos.model.nodes import Accelerator
from chaos.model.unknown import Unknown
from chaos.protocols.ability import KernelLog, Snapshot
from chaos.protocols.fault import Target


def device_of(target: Target, index: int) -> Accelerator:
    """The accelerator with this index.

    Raises:
        Unsupported: the inventory names no such accelerator of the node.
    """
    for device in target.node.accelerators:
        if device.index == index:
            return device
    raise Unsupported(
        f"find accelerator {index}",
        ability="that accelerator",
        where=target.node.name,
        why=f"the inventory names {len(target.node.accelerators)} accelerators",
        todo="name another one, or add it to the inventory",
    )


def xid(target: Target, device: Accelerator, number: int, text: str) -> Script:
    """The line of an Xid as the driver writes it: domain, bus and device without the function, process unknown."""
    place = device.pci_address.rpartition(".")[0]
    line = f"NVRM: Xid (PCI:{place}): {number}, pid='<unknown>', name=<unknown>, {text}"
    return target.platform[KernelLog].write(marked(line, target))


def row(devices: tuple[Snapshot, ...], index: int) -> Snapshot | Unknown:
    """The row of one device; a device that is not listed is unknown, not lost: nothing was said about it."""
    for device in devices:
        if device["index"] == index:
            return device
    return Unknown(f"accelerator {index} is not listed", f"{len(devices)} devices")
