"""GC19."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.gpu.device import device_of, row, xid
from chaos.faults.parameters import within
from chaos.faults.payload import marked
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorHealth, AcceleratorSignals, KernelLog, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target

_XID = 79
_TEXT = "GPU has fallen off the bus."


@dataclass(frozen=True, slots=True)
class OffTheBus(Fault):
    """An accelerator is lost to its driver (Xid 79): every call to it answers that the GPU is lost.

    Mechanism: NVML is made to answer so for one device, and the two lines of the driver are written to the kernel log, marked as
    injected; a load that watches its own device fails as it would on a lost one. Shows whether monitoring, health gate and scheduler take
    the node out. Does not show the PCIe bus, the driver or a reboot: the device itself is untouched. Proof: NVML says that it is lost.
    """

    kind: ClassVar[str] = "gpu.off_the_bus"
    catalogue_id: ClassVar[str] = "GC19"
    title: ClassVar[str] = "An accelerator falls off the bus"
    fault_class: ClassVar[str] = "accelerator"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.EMULATED
    mechanism: ClassVar[str] = "NVML answers that the device is lost and Xid 79 lines in the kernel log"
    layer: ClassVar[str] = "signals of the accelerator; the bus is untouched"
    needs: ClassVar[tuple[type[Ability], ...]] = (AcceleratorSignals, AcceleratorHealth, KernelLog)
    expects: ClassVar[Expects] = Expects.REPLACE

    gpu: int = 0

    def __post_init__(self) -> None:
        within(self, "gpu", 0, 63)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        device_of(target, self.gpu)
        return judged(target.platform[AcceleratorSignals].state(self.gpu), _unless_lost)

    def apply(self, target: Target, before: Snapshot) -> Script:
        del before
        device = device_of(target, self.gpu)
        lost = target.platform[AcceleratorSignals].change(self.gpu, {"lost": 1})
        follower = marked(f"NVRM: GPU {device.pci_address}: {_TEXT}", target)
        return lost + xid(target, device, _XID, _TEXT) + target.platform[KernelLog].write(follower)

    def undo(self, target: Target, before: Snapshot) -> Script:
        return target.platform[AcceleratorSignals].restore(self.gpu, before)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        del before

        def judge(devices: tuple[Snapshot, ...]) -> bool | Unknown:
            device = row(devices, self.gpu)
            return device if isinstance(device, Unknown) else bool(device["lost"])

        return judged(target.platform[AcceleratorHealth].devices(), judge)


def _unless_lost(seen: Snapshot) -> Snapshot | Unknown:
    return Unknown("the accelerator is lost before anything was done") if seen["lost"] else seen
