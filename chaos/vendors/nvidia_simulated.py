"""Simulated NVIDIA accelerators: a library with NVML's interface over a state that can be set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from chaos.model.acts import Answer, Question, Run, Script, undo_of
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorSignals, Snapshot
from chaos.protocols.vendor import Vendor
from chaos.vendors.answers import document, shaped

_TOOL = "chaos-simulator"
_HEALTH = {"lost": int, "ecc_corrected": int, "ecc_uncorrected": int}


@dataclass(frozen=True, slots=True)
class Simulator(AcceleratorSignals):
    """The node's own tool ``chaos-simulator``. ``state_file`` is the state it is to use; empty: its default."""

    state_file: str = ""

    def state(self, index: int) -> Question[Snapshot | Unknown]:
        return Question(self._run("show", "--json"), lambda answer: _read_state(answer, index))

    def change(self, index: int, values: Mapping[str, int]) -> Script:
        fields = (f"{name}={value}" for name, value in values.items())
        return Script((self._run("set", "--gpu", str(index), *fields),))

    def restore(self, index: int, before: Snapshot) -> Script:
        """Only health is put back: load and temperature have moved on since."""
        health = {name: before[name] for name in _HEALTH}
        return undo_of(self._run("restore", "--gpu", str(index), json.dumps(health)))

    def _run(self, *words: str) -> Run:
        return Run((_TOOL, *words), environment={"FAKE_NVML_STATE": self.state_file} if self.state_file else {})


class NvidiaSimulated(Vendor):
    """NVIDIA accelerators as they are in a virtual cluster: NVML answers as on hardware, and its values can be set."""

    kind: ClassVar[str] = "nvidia-simulated"
    title: ClassVar[str] = "Simulated NVIDIA accelerators"
    extends: ClassVar[str] = "nvidia"

    def abilities(self, node: Node) -> tuple[Ability, ...]:
        return (Simulator(node.properties.get("simulator_state", "")),)


def _read_state(answer: Answer, index: int) -> Snapshot | Unknown:
    found = document(answer, {"devices": list})
    if isinstance(found, Unknown):
        return found
    for device in found["devices"]:
        row = shaped(device, {"index": int, **_HEALTH})
        if isinstance(row, Unknown):
            return row
        if row["index"] == index:
            return {name: row[name] for name in _HEALTH}
    return Unknown(f"there is no simulated device {index}", answer.tail)
