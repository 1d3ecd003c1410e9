"""HO12."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.faults.proof import judged
from chaos.model.acts import Question, Script
from chaos.model.nodes import Severity
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, PowerControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target


@dataclass(frozen=True, slots=True)
class Crash(Fault):
    """A node loses its power in the middle of work: no signal, no farewell to its peers, nothing flushed.

    Mechanism: power off through the BMC, which also holds the undo and gives power back when the controller falls silent. Shows whether a
    vanished node is noticed by time-outs alone and replaced. Does not show a kernel panic, which leaves a log, nor the loss of a whole
    rack. Proof: the BMC says that the node is off; the controller's own channel to it is lost as well.
    """

    kind: ClassVar[str] = "host.crash"
    catalogue_id: ClassVar[str] = "HO12"
    title: ClassVar[str] = "A node loses its power"
    fault_class: ClassVar[str] = "node"
    severity: ClassVar[Severity] = Severity.DESTRUCTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "power off through the BMC"
    layer: ClassVar[str] = "whole machine"
    needs: ClassVar[tuple[type[Ability], ...]] = (PowerControl,)
    expects: ClassVar[Expects] = Expects.REPLACE
    is_out_of_band: ClassVar[bool] = True

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return judged(target.platform[PowerControl].state(), _snapshot)

    def apply(self, target: Target, before: Snapshot) -> Script:
        del before
        return target.platform[PowerControl].crash()

    def undo(self, target: Target, before: Snapshot) -> Script:
        del before
        return target.platform[PowerControl].on()

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        del before
        return judged(target.platform[PowerControl].state(), lambda state: state == "off")


def _snapshot(state: str) -> Snapshot | Unknown:
    return {"power": state} if state == "on" else Unknown("the node has no power before anything was done", state)
