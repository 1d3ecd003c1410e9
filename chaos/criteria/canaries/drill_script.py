"""Drills as they go on a small cluster: what is injected, what is seen on the node, and how the job comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chaos.criteria.canaries.recorder import Recorder
from chaos.criteria.canaries.training_job import TrainingJob
from chaos.model.events import ClockMeasured, NodeLost, NodeReached
from chaos.model.injections import ControlSeen, DrillBegun, DrillEnded, InjectionIntended, InjectionMoved, InjectionState

Signs = Callable[[Recorder, TrainingJob, str], None]


@dataclass(frozen=True, slots=True)
class DrillScript:
    """One drill. ``stall``: seconds from the fault to the next round (or the end of the stall); ``signs``: what its node shows."""

    fault: str
    catalogue_id: str
    fault_class: str
    node: str
    expects: str = "restart"
    severity: str = "disruptive"
    fidelity: str = "real"
    mechanism: str = ""
    layer: str = "host"
    parameters: Mapping[str, Any] | None = None
    signs: Signs = lambda _recorder, _job, _node: None
    stall: float = 1.5
    lost_peers: bool = True
    recovers: bool = True
    has_proof: bool = True
    is_cleared: bool = True
    control_flags: bool = False
    restores: int | None = None
    slower_after: float = 1.0
    steps_after: int = 22


def play(recorder: Recorder, job: TrainingJob, script: DrillScript, drill: str, *, limit: float = 60.0, steady: int = 12) -> None:
    """Writes one drill: steady state, injection, signs, recovery, undo, and steps afterwards.

    A node that a spare has replaced holds no rank; another one is struck instead.
    """
    script = script if script.node in job.nodes else replace(script, node=job.nodes[0])
    job.steps(steady)
    recorder.write(DrillBegun(drill, job.name, script.fault, script.node, recorder.at, steady, limit))
    _inject(recorder, job, script, drill)
    _disturb(recorder, job, script)
    job.pace *= script.slower_after
    if not script.recovers:
        recorder.at += limit
        _undo(recorder, script, drill)
        recorder.write(DrillEnded(drill, "missed", recorder.at, f"no new step within {limit:g} s"))
        return
    _recover(recorder, job, script, drill)
    recorder.write(DrillEnded(drill, "recovered", recorder.at))
    job.steps(script.steps_after)


def _inject(recorder: Recorder, job: TrainingJob, script: DrillScript, drill: str) -> None:
    recorder.write(
        InjectionIntended(
            injection=drill,
            attempt=1,
            fault=script.fault,
            catalogue_id=script.catalogue_id,
            parameters=script.parameters or {},
            node=script.node,
            severity=script.severity,
            fidelity=script.fidelity,
            mechanism=script.mechanism or f"as {script.fault} says",
            layer=script.layer,
            fault_class=script.fault_class,
            expects=script.expects,
            before={},
            undo={"acts": [], "keep_going": True},
            guard=drill,
            lease_seconds=15.0,
            deadline_seconds=120.0,
            workload=job.name,
        )
    )
    other = next(name for name in job.nodes if name != script.node)
    recorder.at += 0.05
    _move(recorder, drill, InjectionState.ARMED, "the guard answers")
    recorder.write(ControlSeen(drill, script.fault, other, script.control_flags, "present" if script.control_flags else "absent"))
    recorder.at += 0.05
    _move(recorder, drill, InjectionState.APPLIED, "")
    if script.has_proof:
        _move(recorder, drill, InjectionState.PROVEN, "seen on the node", after=0.1)
    else:
        _move(recorder, drill, InjectionState.NO_EFFECT, "nothing changed", after=0.1)


def _disturb(recorder: Recorder, job: TrainingJob, script: DrillScript) -> None:
    script.signs(recorder, job, script.node)
    if script.lost_peers and script.expects not in {"ride out", "degrade"}:
        job.lose_peers(script.node)


def _recover(recorder: Recorder, job: TrainingJob, script: DrillScript, drill: str) -> None:
    if script.expects == "degrade":
        job.slow_rank = job.first_rank_on(script.node)
        job.steps(12)
        job.slow_rank = None
        _undo(recorder, script, drill)
        job.steps(12)
        return
    recorder.at += script.stall
    if script.expects != "ride out":
        if script.expects == "replace":
            job.replace(script.node)
        job.begin_round(1.0, restore=job.saved - job.every if script.expects == "fall back" else script.restores)
    job.steps(1)
    _undo(recorder, script, drill)


def _undo(recorder: Recorder, script: DrillScript, drill: str) -> None:
    _move(recorder, drill, InjectionState.UNDONE, "", by="controller")
    recorder.at += 0.05
    if script.is_cleared:
        _move(recorder, drill, InjectionState.CLEARED, "as before the fault")
    else:
        _move(recorder, drill, InjectionState.STUCK, "still there")


def _move(recorder: Recorder, drill: str, state: InjectionState, proof: str, *, after: float = 0.0, by: str = "engine") -> None:
    recorder.write(InjectionMoved(drill, 1, state, round(recorder.at + after, 6), 0.005, proof, by))


def killed(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """A rank is gone without a word, and its agent saw the signal."""
    rank = job.first_rank_on(node)
    recorder.see(node, "process", {"rank": rank, "local_rank": 0, "state": "gone"}, after=0.15, workload=job.name)
    recorder.see(node, "worker.ended", {"local_rank": 0, "exit_status": -9, "signal": "SIGKILL"}, after=0.25, workload=job.name)


def frozen(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """A rank stands in state T until its agent ends it."""
    data = {"rank": job.first_rank_on(node), "local_rank": 0, "state": "T"}
    recorder.see(node, "process", data, after=0.2, workload=job.name)
    recorder.see(node, "process", {**data, "state": "gone"}, after=1.4, workload=job.name)


def unplugged(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """The training port lost its carrier, and the health gate took the node out."""
    recorder.see(node, "link", {"interface": "rdma0", "operstate": "down", "carrier": 0, "carrier_changes": 3}, after=0.12)
    recorder.see(node, "gate.out", {"reasons": ["rdma0 has no carrier"]}, after=0.5, workload=job.name)
    recorder.see(node, "link", {"interface": "rdma0", "operstate": "up", "carrier": 1, "carrier_changes": 4}, after=3.0)
    recorder.see(node, "gate.in", {}, after=3.2, workload=job.name)


def flapped(recorder: Recorder, _job: TrainingJob, node: str) -> None:
    """The carrier was away for a second."""
    recorder.see(node, "link", {"interface": "rdma0", "operstate": "down", "carrier": 0, "carrier_changes": 5}, after=0.11)
    recorder.see(node, "link", {"interface": "rdma0", "operstate": "up", "carrier": 1, "carrier_changes": 6}, after=1.11)


def cut_off(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """The peers cannot be reached though the port is up; the health gate says so."""
    recorder.see(node, "gate.out", {"reasons": ["no peer answers on rdma0"]}, after=0.7, workload=job.name)
    recorder.see(node, "gate.in", {}, after=3.4, workload=job.name)


def crashed(recorder: Recorder, _job: TrainingJob, node: str) -> None:
    """The channel breaks, and the node comes up again with a new boot id."""
    before = recorder.at
    recorder.at = before + 0.8
    recorder.write(NodeLost(node, recorder.at, "connection reset"))
    recorder.at = before + 1.3
    recorder.write(NodeReached(node, recorder.at, f"boot-{node}-2"))
    recorder.write(ClockMeasured(node, 3.25, 0.002, f"boot-{node}-2"))
    recorder.see(node, "boot", {"boot_id": f"boot-{node}-2"})
    recorder.see(node, "gate.in", {}, after=0.1)
    recorder.at = before


def out_of_memory(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """The kernel killed a rank of the job's cgroup."""
    recorder.see(node, "oom", {"path": "/sys/fs/cgroup/chaos-job", "oom_kills": 1}, after=0.2)
    killed(recorder, job, node)


def double_bit(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """Xid 48, the counter, and the error in the rank."""
    text = "NVRM: Xid (PCI:0000:5e:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"
    recorder.see(node, "kernel.line", {"text": text, "priority": 4, "sequence": 8101, "injected": True}, after=0.1)
    device = {"index": 0, "uuid": "GPU-0", "lost": False, "ecc_corrected": 0, "ecc_uncorrected": 1, "temperature": 54}
    recorder.see(node, "accelerator", device, after=0.15)
    _device_error(recorder, job, node, "uncorrectable ECC error encountered")


def off_the_bus(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """Xid 79, the device lost, and the error in the rank; the health gate takes the node out."""
    text = "NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    recorder.see(node, "kernel.line", {"text": text, "priority": 4, "sequence": 8102, "injected": True}, after=0.1)
    recorder.see(node, "accelerator", {"index": 0, "uuid": "GPU-0", "lost": True}, after=0.2)
    _device_error(recorder, job, node, "device lost")
    recorder.see(node, "gate.out", {"reasons": ["accelerator 0 is lost"]}, after=0.6, workload=job.name)
    recorder.see(node, "accelerator", {"index": 0, "uuid": "GPU-0", "lost": False, "ecc_uncorrected": 1}, after=3.0)
    recorder.see(node, "gate.in", {}, after=3.2, workload=job.name)


def _device_error(recorder: Recorder, job: TrainingJob, node: str, text: str) -> None:
    data = {"rank": job.first_rank_on(node), "error": "AcceleratorError", "text": text}
    recorder.see(node, "rank.failed", data, after=0.3, workload=job.name)
    recorder.see(node, "worker.ended", {"local_rank": 0, "exit_status": 1, "signal": ""}, after=0.5, workload=job.name)


def late_alarm(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """Nothing is said for 45 seconds."""
    data = {"rank": job.first_rank_on(node), "local_rank": 0, "state": "T"}
    recorder.see(node, "process", data, after=45.0, workload=job.name)
    recorder.see(node, "process", {**data, "state": "gone"}, after=46.0, workload=job.name)


def wrong_node(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """Another node than the struck one looks like the culprit."""
    other = next(name for name in job.nodes if name != node)
    killed(recorder, job, other)


def spreading(recorder: Recorder, job: TrainingJob, node: str) -> None:
    """The fault takes a second node with it."""
    unplugged(recorder, job, node)
    off_the_bus(recorder, job, next(name for name in job.nodes if name != node))
