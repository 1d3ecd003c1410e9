"""What runs on the simulated site: a fault that leaves a mark, a training job, and a catalogue that knows both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from simulated_site import MARK

from chaos.model.acts import Consult, Question, RemovePath, Script, WriteFile, undo_of
from chaos.model.guards import Job
from chaos.model.nodes import Cluster, Node, Role, Severity
from chaos.model.plans import FaultSpec, WorkloadSpec
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Platform, Snapshot
from chaos.protocols.fault import Expects, Fault, Fidelity, Target
from chaos.protocols.workload import Launch, Launcher, Program, Reading, Workload


@dataclass(frozen=True, slots=True)
class Mark(Fault):
    """Leaves a file; the simulated job stalls while it is there and restarts around it."""

    kind: ClassVar[str] = "test.mark"
    catalogue_id: ClassVar[str] = "XX00"
    title: ClassVar[str] = "A mark"
    fault_class: ClassVar[str] = "test"
    severity: ClassVar[Severity] = Severity.SAFE
    fidelity: ClassVar[Fidelity] = Fidelity.SIGNAL
    mechanism: ClassVar[str] = "a file"
    layer: ClassVar[str] = "test"
    needs: ClassVar = ()
    expects: ClassVar[Expects] = Expects.RESTART

    def before(self, target: Target) -> Question[Snapshot | Unknown]:
        return Question(Consult("file", {"path": MARK}), lambda answer: json.loads(answer.stdout))

    def apply(self, target: Target, before: Snapshot) -> Script:
        return Script((WriteFile(MARK, "x"),))

    def undo(self, target: Target, before: Snapshot) -> Script:
        return undo_of(RemovePath(MARK))

    def presence(self, target: Target, before: Snapshot) -> Question[bool | Unknown]:
        return Question(Consult("file", {"path": MARK}), lambda answer: bool(json.loads(answer.stdout)["exists"]))


@dataclass(frozen=True, slots=True)
class Train(Workload):
    kind: ClassVar[str] = "train"
    title: ClassVar[str] = "Simulated training"

    @property
    def checkpoint_every(self) -> int | None:
        return 10

    def program(self, node: Node, name: str) -> Program:
        return Program((), "", (), {})

    def read(self, line: str) -> Reading | None:
        document = json.loads(line)
        return Reading(document["what"], document["at"], document["data"])


class Start(Launcher):
    kind = "start"
    title = "Simulated launcher"

    def launch(self, workload: Workload, name: str, cluster: Cluster, *, fence: int = 0, with_spares: bool = True) -> Launch:
        return Launch(tuple((node.name, Job("train", ())) for node in cluster.where(role=Role.COMPUTE)), "the simulation", 2)


class SiteCatalog:
    power = None
    probes: Mapping[str, Any] = {}

    def platform(self, node: Node) -> Platform:
        return Platform(node, ())

    def fault(self, spec: FaultSpec) -> Fault:
        return Mark()

    def workload(self, spec: WorkloadSpec) -> Workload:
        return Train()

    def launcher(self, kind: str) -> Launcher:
        return Start()


def cluster() -> Cluster:
    return Cluster("simulated", tuple(Node(name, name) for name in ("node1", "node2")), 2, launcher="start", digest="inventory")
