"""NW02."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import PlanError
from chaos.faults.nic.port import link_before, port_of
from chaos.faults.parameters import within
from chaos.faults.payload import folder, interpreter, program, tag
from chaos.faults.proof import judged
from chaos.model.acts import Question, RemovePath, Run, Script, Spawn, StopSpawned, WriteFile, undo_of
from chaos.model.nodes import Severity
from chaos.model.quantities import Duration, milliseconds, seconds
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, LinkControl, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target

_LONGEST = 60 * seconds


@dataclass(frozen=True, slots=True)
class Flap(Fault):
    """A training port goes down and comes back, several times, without help from outside.

    Mechanism: a program on the node takes the port down for ``down_for`` and puts it back for ``up_for``, ``flaps`` times; whatever ends
    the program, its last act puts the port back, and the undo does so once more. Shows whether the job rides out a short outage or
    restarts for nothing. Does not show optics or a switch that flap: packets in flight are lost here only. Proof: the kernel counted at
    least one loss and one return of the carrier since the snapshot.
    """

    kind: ClassVar[str] = "nic.flap"
    catalogue_id: ClassVar[str] = "NW02"
    title: ClassVar[str] = "A training port flaps"
    fault_class: ClassVar[str] = "network"
    severity: ClassVar[Severity] = Severity.DISRUPTIVE
    fidelity: ClassVar[Fidelity] = Fidelity.REAL
    mechanism: ClassVar[str] = "ip link set down and up in turn on the node"
    layer: ClassVar[str] = "network interface"
    needs: ClassVar[tuple[type[Ability], ...]] = (LinkControl,)
    expects: ClassVar[Expects] = Expects.RIDE_OUT
    is_lasting: ClassVar[bool] = False

    port: int = 0
    flaps: int = 2
    down_for: Duration = 500 * milliseconds
    up_for: Duration = 1 * seconds

    def __post_init__(self) -> None:
        within(self, "port", 0, 63)
        within(self, "flaps", 1, 100)
        within(self, "down_for", 50 * milliseconds, 5 * seconds)
        within(self, "up_for", 50 * milliseconds, 30 * seconds)
        if self.takes > _LONGEST:
            raise PlanError("build nic.flap", why=f"it would take {self.takes}", todo=f"keep all flaps within {_LONGEST}")

    @property
    def takes(self) -> Duration:
        """How long the whole sequence lasts."""
        return self.flaps * (self.down_for + self.up_for)

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return link_before(target, self.port)

    def apply(self, target: Target, before: Snapshot) -> Script:
        script, sequence = f"{folder(target)}/flap.py", f"{folder(target)}/flap.json"
        links = target.platform[LinkControl]
        document = {
            "down": _words(links.down(before["interface"])),
            "restore": _words(links.restore(before["interface"], before)),
            "flaps": self.flaps,
            "down_for": self.down_for.seconds,
            "up_for": self.up_for.seconds,
        }
        return Script(
            (
                WriteFile(script, program("flap")),
                WriteFile(sequence, json.dumps(document)),
                Spawn(_name(target), interpreter(script, sequence)),
            )
        )

    def undo(self, target: Target, before: Snapshot) -> Script:
        restore = target.platform[LinkControl].restore(before["interface"], before)
        return undo_of(StopSpawned(_name(target)), *restore.acts, RemovePath(folder(target)))

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        def judge(seen: Snapshot) -> bool:
            return bool(seen["carrier_changes"] - before["carrier_changes"] >= 2)

        return judged(target.platform[LinkControl].state(before["interface"]), judge)

    def touches(self, target: Target) -> tuple[str, ...]:
        return (port_of(target, self.port).name,)


def _words(script: Script) -> list[list[str]]:
    return [list(act.argv) for act in script.acts if isinstance(act, Run)]


def _name(target: Target) -> str:
    return f"flap-{tag(target)}"
