"""Is the training network connected?"""

from __future__ import annotations

from typing import ClassVar

from chaos.model.acts import Question
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, LinkControl, Platform, Snapshot
from chaos.protocols.probe import Finding, Health, Probe

Links = tuple[Snapshot, ...]


class TrainingLinkUp(Probe):
    """Every training port that the inventory names is up and has its carrier."""

    kind: ClassVar[str] = "training_link_up"
    title: ClassVar[str] = "Training ports are up"
    needs: ClassVar[tuple[type[Ability], ...]] = (LinkControl,)

    def question(self, node: Node, platform: Platform) -> Question[Links | Unknown]:
        del node
        return platform[LinkControl].overview()

    def judge(self, node: Node, answer: Links | Unknown) -> Finding:
        health, sentence = _judge(node, answer)
        return Finding(self.kind, node.name, health, sentence)


def _judge(node: Node, answer: Links | Unknown) -> tuple[Health, str]:
    if isinstance(answer, Unknown):
        return Health.UNKNOWN, f"interfaces cannot be listed: {answer.why}"
    if not node.training:
        return Health.UNKNOWN, "the inventory names no training port"
    seen = {link["interface"]: link for link in answer}
    missing = [port.name for port in node.training if port.name not in seen]
    if missing:
        return Health.UNHEALTHY, f"no such interface: {', '.join(missing)}"
    down = [port.name for port in node.training if not (seen[port.name]["is_up"] and seen[port.name]["has_carrier"])]
    if down:
        return Health.UNHEALTHY, f"down or without carrier: {', '.join(down)}"
    return Health.HEALTHY, f"{', '.join(port.name for port in node.training)} up"
