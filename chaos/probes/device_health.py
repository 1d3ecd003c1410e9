"""Do the accelerators work, as far as their driver says?"""

from __future__ import annotations

from typing import ClassVar

from chaos.model.acts import Question
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorHealth, Platform, Snapshot
from chaos.protocols.probe import Finding, Health, Probe

Devices = tuple[Snapshot, ...]


class DeviceHealth(Probe):
    """No accelerator is lost, and none has counted an uncorrectable memory error since its driver was loaded."""

    kind: ClassVar[str] = "device_health"
    title: ClassVar[str] = "Accelerators are healthy"
    needs: ClassVar[tuple[type[Ability], ...]] = (AcceleratorHealth,)

    def question(self, node: Node, platform: Platform) -> Question[Devices | Unknown]:
        del node
        return platform[AcceleratorHealth].devices()

    def judge(self, node: Node, answer: Devices | Unknown) -> Finding:
        health, sentence = _judge(answer)
        return Finding(self.kind, node.name, health, sentence)


def _judge(answer: Devices | Unknown) -> tuple[Health, str]:
    if isinstance(answer, Unknown):
        return Health.UNKNOWN, f"accelerators cannot be read: {answer.why}"
    if not answer:
        return Health.UNKNOWN, "no accelerator was listed"
    lost = [str(device["index"]) for device in answer if device["lost"]]
    if lost:
        return Health.UNHEALTHY, f"lost: accelerator {', '.join(lost)}"
    broken = [f"{device['index']} ({device['ecc_uncorrected']})" for device in answer if device.get("ecc_uncorrected")]
    if broken:
        return Health.UNHEALTHY, f"uncorrectable memory errors: accelerator {', '.join(broken)}"
    silent = [str(device["index"]) for device in answer if device.get("ecc_uncorrected") is None]
    if silent:
        return Health.UNKNOWN, f"no count of memory errors: accelerator {', '.join(silent)}; is ECC on?"
    return Health.HEALTHY, f"{len(answer)} accelerators without loss or uncorrectable errors"
