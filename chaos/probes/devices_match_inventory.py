"""Are the accelerators there that the seller promised?"""

from __future__ import annotations

from typing import ClassVar

from chaos.model.acts import Question
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorHealth, Platform, Snapshot
from chaos.protocols.probe import Finding, Health, Probe

Devices = tuple[Snapshot, ...]


class DevicesMatchInventory(Probe):
    """The accelerators of a node are those that the inventory names, by number and UUID."""

    kind: ClassVar[str] = "devices_match_inventory"
    title: ClassVar[str] = "Accelerators are those of the inventory"
    needs: ClassVar[tuple[type[Ability], ...]] = (AcceleratorHealth,)

    def question(self, node: Node, platform: Platform) -> Question[Devices | Unknown]:
        del node
        return platform[AcceleratorHealth].devices()

    def judge(self, node: Node, answer: Devices | Unknown) -> Finding:
        health, sentence = _compare(node, answer)
        return Finding(self.kind, node.name, health, sentence)


def _compare(node: Node, answer: Devices | Unknown) -> tuple[Health, str]:
    if isinstance(answer, Unknown):
        return Health.UNKNOWN, f"accelerators cannot be listed: {answer.why}"
    wanted = {device.uuid for device in node.accelerators}
    if not wanted:
        return Health.UNKNOWN, f"the inventory names no accelerators, the node shows {len(answer)}"
    if len(answer) != len(wanted):
        return Health.UNHEALTHY, f"{len(answer)} accelerators, the inventory names {len(wanted)}"
    nameless = [str(device["index"]) for device in answer if not device.get("uuid")]
    if nameless:
        return Health.UNKNOWN, f"accelerators {', '.join(nameless)} do not say who they are"
    strange = {str(device["uuid"]) for device in answer} - wanted
    if strange:
        return Health.UNHEALTHY, f"not in the inventory: {', '.join(sorted(strange))}"
    return Health.HEALTHY, f"{len(wanted)} accelerators as in the inventory"
