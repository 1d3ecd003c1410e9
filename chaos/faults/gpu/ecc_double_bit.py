"""GM02."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.gpu.device import device_of, row, xid
from chaos.faults.parameters import within
from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, AcceleratorHealth, AcceleratorSignals, KernelLog, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target

_XID = 48
_TEXT = (
    "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x1f4c0e40 "
    "partition 5, subpartition 1"
)


@dataclass(frozen=True, slots=True)
class EccDoubleBit(Fault):
    """An accelerator reports an uncorrectable error in its memory (Xid 48), and the rank on it fails.

    Mechanism: the uncorrectable counter that NVML shows is raised and the driver's line is written to the kernel log, marked as
    injected; a load that watches its own device fails as it would on the error. Shows whether monitoring, health gate and job react to
    the signals. Does not show the hardware's error containment, row remapping or a reset: no bit is flipped. Proof: NVML shows more
    uncorrectable errors than before.
    """

    kind: ClassVar[str] = "gpu.ecc_double_bit"
    catalogue_id: ClassVar[str] = "GM02"
    title: ClassVar[str] = "An accelerator reports a double-bit error"
    fault_class: ClassVar[str] = "accelerator"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.EMULATED
    mechanism: ClassVar[str] = "NVML counter raised and Xid 48 line in the kernel log"
    layer: ClassVar[str] = "signals of the accelerator; its memory is untouched"
    needs: ClassVar[tuple[type[Ability], ...]] = (AcceleratorSignals, AcceleratorHealth, KernelLog)
    expects: ClassVar[Expects] = Expects.REPLACE

    gpu: int = 0
    errors: int = 2

    def __post_init__(self) -> None:
        within(self, "gpu", 0, 63)
        within(self, "errors", 1, 1000)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        device_of(target, self.gpu)
        return target.platform[AcceleratorSignals].state(self.gpu)

    def apply(self, target: Target, before: Snapshot) -> Script:
        counter = {"ecc_uncorrected": before["ecc_uncorrected"] + self.errors}
        raised = target.platform[AcceleratorSignals].change(self.gpu, counter)
        return raised + xid(target, device_of(target, self.gpu), _XID, _TEXT)

    def undo(self, target: Target, before: Snapshot) -> Script:
        return target.platform[AcceleratorSignals].restore(self.gpu, before)

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        def judge(devices: tuple[Snapshot, ...]) -> bool | Unknown:
            device = row(devices, self.gpu)
            if isinstance(device, Unknown):
                return device
            errors = device.get("ecc_uncorrected")
            return Unknown("NVML gives no count") if errors is None else bool(errors > before["ecc_uncorrected"])

        return judged(target.platform[AcceleratorHealth].devices(), judge)
