"""NVIDIA accelerators, read through NVML."""

from __future__ import annotations

from typing import Any, ClassVar

from chaos.model.acts import Answer, Consult, Question
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorHealth, Snapshot
from chaos.protocols.vendor import Vendor
from chaos.vendors.answers import document, shaped

_READ = ("index", "lost", "uuid", "ecc_corrected", "ecc_uncorrected", "temperature")


class Nvml(AcceleratorHealth):
    """NVML, which the agent asks in a child that it may abandon: a call can hang in the driver."""

    def devices(self) -> Question[tuple[Snapshot, ...] | Unknown]:
        return Question(Consult("nvml"), _read_devices)


class Nvidia(Vendor):
    """NVIDIA data-centre accelerators. No public way sets their error counters, so faults that need that are not offered."""

    kind: ClassVar[str] = "nvidia"
    title: ClassVar[str] = "NVIDIA accelerators (NVML)"

    def abilities(self, node: Node) -> tuple[Ability, ...]:
        del node
        return (Nvml(),)


def _read_devices(answer: Answer) -> tuple[Snapshot, ...] | Unknown:
    found = document(answer, {"devices": list})
    if isinstance(found, Unknown):
        return found
    if found.get("error"):
        return Unknown(str(found["error"]), answer.tail)
    rows = [_row(device) for device in found["devices"]]
    broken = next((row for row in rows if isinstance(row, Unknown)), None)
    return broken if broken is not None else tuple(row for row in rows if not isinstance(row, Unknown))


def _row(device: Any) -> Snapshot | Unknown:
    """A device that is there must have an identity; one that is lost has only its index. Any other error code is no health."""
    row = shaped(device, {"index": int, "lost": bool})
    if isinstance(row, Unknown):
        return row
    if not row["lost"] and (row.get("error") or not isinstance(row.get("uuid"), str)):
        return Unknown(f"device {row['index']} does not answer: NVML error {row.get('error')}", str(device)[:400])
    return {key: row.get(key) for key in _READ}
