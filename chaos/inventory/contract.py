"""What must hold over all nodes of an inventory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.errors import InventoryError
from chaos.inventory.settings import NodeWords
from chaos.inventory.yaml_text import Document, Path
from chaos.model.nodes import Node, Role, Severity


def broken_promises(document: Document, words: Sequence[NodeWords], nodes: Sequence[Node]) -> list[InventoryError]:
    """Mistakes that show only when the nodes are seen together: doubles, permissions without a BMC, too many slots."""
    told = [*_doubles(document, words, nodes), *_slots(document, nodes)]
    for each, node in zip(words, nodes, strict=True):
        told += _permission(document, each, node)
    return told


def _doubles(document: Document, words: Sequence[NodeWords], nodes: Sequence[Node]) -> Iterator[InventoryError]:
    first: dict[tuple[str, str], tuple[str, int]] = {}
    for each, node in zip(words, nodes, strict=True):
        for place, (what, value, key) in enumerate(_identities(node)):
            owner, _ = owned = first.setdefault((what, value), (node.name, place))
            if owned != (node.name, place):
                origin = each.said[key].origin if key in each.said else ("groups",)
                whose = f"{owner} and {node.name}" if owner != node.name else f"two entries of {owner}"
                yield document.mistake(origin, f"{what} {value} belongs to {whose}")


def _identities(node: Node) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What may belong to one node and one device only, with the key where it is said."""
    yield "the address", f"{node.address} port {node.ssh.port}", ("address",)
    for device in node.accelerators:
        if device.uuid:
            yield "the device UUID", device.uuid, ("accelerators",)
        if device.pci_address:
            yield f"the PCI address on {node.name}", device.pci_address, ("accelerators",)
    for port in node.training:
        if port.address:
            yield "the training address", port.address, ("training",)
        yield f"the port on {node.name}", port.name, ("training",)


def _permission(document: Document, words: NodeWords, node: Node) -> list[InventoryError]:
    if node.severity_allowed < Severity.DESTRUCTIVE or node.bmc or node.role is Role.HEAD:
        return []
    what = "destructive faults need a BMC: without one nobody could give the node its power back"
    return [document.mistake(words.said["severity_allowed",].origin, what, todo="add `bmc:` or allow at most `disruptive`")]


def _slots(document: Document, nodes: Sequence[Node]) -> Iterator[InventoryError]:
    compute = sum(node.role is Role.COMPUTE for node in nodes)
    if not compute:
        yield document.mistake(("groups",), "no node has the role compute", todo="one group needs `role: compute`")
    path: Path = ("contracted_slots",)
    slots = document.content.get("contracted_slots")
    if compute and slots and slots > compute:
        yield document.mistake(path, f"{slots} slots are contracted, but only {compute} nodes have the role compute")
