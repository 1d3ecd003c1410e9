"""Which observations say that something is wrong, and which of them name a culprit.

A cause names the node it was seen on: a lost link, an accelerator off the bus, a frozen process. A follower only says that
somebody else is in trouble: a time-out in a collective, a closed connection, the watchdog's abort. A follower detects, but it never
names, and it never hides the cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum

from chaos.model.events import NodeLost, WorkloadEnded
from chaos.model.history import History
from chaos.model.observations import Alarm, Observation


class Strength(IntEnum):
    """How strongly a kind of cause points at its node: the part itself, a process on it, a measured slowness, or not at all."""

    PART = 3
    PROCESS = 2
    PACE = 1
    FOLLOWER = 0


APPLICATION_XIDS = frozenset({13, 31, 32, 43, 45, 69, 137})
"""Xids of the application or of a consequence (NVIDIA's Xid catalogue): they say that something is wrong, not that the node is."""

_XID = re.compile(r"NVRM: Xid \([^)]*\): (\d+)")
_KERNEL_SIGNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"fallen off the bus|RmInitAdapter failed"), "accelerator lost (kernel log)"),
    (re.compile(r"[Oo]ut of memory: Killed process"), "out of memory (kernel log)"),
    (re.compile(r"Link (DOWN|down)\b|link status definitely down"), "link down (kernel log)"),
    (re.compile(r"AER: Uncorrected|uncorrectable|uncorrected"), "uncorrected hardware error (kernel log)"),
    (re.compile(r"soft lockup|blocked for more than|Remounting filesystem read-only|Kernel panic"), "kernel fault (kernel log)"),
)
_FOLLOWER_WORDS = re.compile(
    r"time[d ]?-? ?out|connection|peer|reset by|closed|broken pipe|refused|unreachable|gloo|nccl|store|rendezvous|socket|SIGTERM",
    re.IGNORECASE,
)
_POLITE_SIGNALS = frozenset({"SIGTERM", "SIGINT", "SIGABRT", "15", "2", "6", "-15", "-2", "-6"})
_STRENGTHS: Mapping[str, Strength] = {
    "link down": Strength.PART,
    "accelerator lost": Strength.PART,
    "uncorrectable memory error": Strength.PART,
    "out of memory": Strength.PART,
    "health gate out": Strength.PART,
    "node booted": Strength.PART,
    "process frozen": Strength.PROCESS,
    "process gone": Strength.PROCESS,
    "worker killed": Strength.PROCESS,
    "rank error": Strength.PROCESS,
    "channel lost": Strength.PROCESS,
    "straggler": Strength.PACE,
}


def strength(alarm: Alarm) -> Strength:
    """How strongly an alarm points at its node."""
    if not alarm.names_culprit:
        return Strength.FOLLOWER
    return _STRENGTHS.get(alarm.cause.partition(":")[0], Strength.PART)


def alarms(history: History) -> tuple[Alarm, ...]:
    """All alarms of a run in the order of time, without those of slowness (see :mod:`chaos.model.folding.stragglers`)."""
    return history.remember("alarms", lambda: _alarms(history))


def _alarms(history: History) -> tuple[Alarm, ...]:
    watch = _Watch(tuple((body.workload, body.at) for _, body in history.of(WorkloadEnded)))
    found = [alarm for row in history.observations(*_READERS) if (alarm := watch.read(row)) is not None]
    found += [Alarm(lost.node, lost.at, 0.0, "channel lost", True, number) for number, lost in history.of(NodeLost)]
    return tuple(sorted(found, key=lambda alarm: alarm.at))


class _Watch:
    """Reads observations in the order of time, and remembers what was the case before."""

    def __init__(self, ends: tuple[tuple[str, float], ...]) -> None:
        self.ends = ends
        self.devices: dict[tuple[str, object], Mapping[str, object]] = {}
        self.victims: dict[str, float] = {}
        self.finished: set[tuple[str, object]] = set()
        self.boots: dict[str, object] = {}

    def read(self, row: Observation) -> Alarm | None:
        told = _READERS[row.what](self, row)
        if told is None:
            return None
        cause, names = told
        return Alarm(row.node, row.at, row.error, cause, names, row.evidence)

    def is_after_end(self, row: Observation) -> bool:
        """Whether the load had ended by then, so that processes may go."""
        return any(workload == row.workload and row.at >= at - row.error for workload, at in self.ends)

    def was_told_to_go(self, row: Observation) -> bool:
        """Whether another process on this node had failed as a victim shortly before: its siblings are then ended by their agent."""
        return row.at - self.victims.get(row.node, -1e18) < 60.0


Told = tuple[str, bool] | None


def _kernel(_watch: _Watch, row: Observation) -> Told:
    text = str(row.data.get("text", ""))
    xid = _XID.search(text)
    if xid:
        return f"Xid {xid[1]}", int(xid[1]) not in APPLICATION_XIDS
    return next(((cause, True) for sign, cause in _KERNEL_SIGNS if sign.search(text)), None)


def _link(_watch: _Watch, row: Observation) -> Told:
    is_down = row.data.get("carrier") == 0 or row.data.get("operstate") in ("down", "lowerlayerdown", "notpresent")
    return (f"link down: {row.data.get('interface', '')}", True) if is_down else None


def _accelerator(watch: _Watch, row: Observation) -> Told:
    key = (row.node, row.data.get("index"))
    before = watch.devices.get(key, {})
    watch.devices[key] = row.data
    if row.data.get("lost") is True and before.get("lost") is not True:
        return f"accelerator lost: {key[1]}", True
    now, then = row.data.get("ecc_uncorrected"), before.get("ecc_uncorrected", 0)
    if isinstance(now, int) and now > (then if isinstance(then, int) else 0):
        return f"uncorrectable memory error: accelerator {key[1]}", True
    return None


def _process(watch: _Watch, row: Observation) -> Told:
    state, rank = row.data.get("state"), row.data.get("rank")
    if state == "T":
        return f"process frozen: rank {rank}", True
    if state != "gone" or (row.node, rank) in watch.finished or watch.is_after_end(row):
        return None
    return f"process gone: rank {rank}", not watch.was_told_to_go(row)


def _oom(_watch: _Watch, row: Observation) -> Told:
    return ("out of memory", True) if row.data.get("oom_kills", 1) else None


def _boot(watch: _Watch, row: Observation) -> Told:
    before = watch.boots.get(row.node)
    watch.boots[row.node] = row.data.get("boot_id")
    return None if before is not None and before == row.data.get("boot_id") else ("node booted", True)


def _gate(_watch: _Watch, row: Observation) -> Told:
    return f"health gate out: {row.data.get('reasons', '')}", True


def _elastic(watch: _Watch, row: Observation) -> Told:
    status = row.data.get("exit_status")
    return None if status == 0 or watch.is_after_end(row) else (f"elastic agent ended: {status}", False)


def _worker(watch: _Watch, row: Observation) -> Told:
    signal, status = row.data.get("signal"), row.data.get("exit_status")
    if not signal and isinstance(status, int) and status < 0:
        signal = status
    if not signal:
        if status in (0, None) or watch.is_after_end(row):
            return None
        watch.victims[row.node] = row.at
        return f"worker ended: exit status {status}", False
    return f"worker killed: {signal}", str(signal) not in _POLITE_SIGNALS


def _failed(watch: _Watch, row: Observation) -> Told:
    words = f"{row.data.get('error', '')} {row.data.get('text', '')}"
    if _FOLLOWER_WORDS.search(words):
        watch.victims[row.node] = row.at
        return f"rank lost its peers: {row.data.get('error', '')}", False
    return f"rank error: {row.data.get('error', '')}", True


def _finished(watch: _Watch, row: Observation) -> Told:
    watch.finished.add((row.node, row.data.get("rank")))
    return None


def _begun(watch: _Watch, row: Observation) -> Told:
    watch.finished.discard((row.node, row.data.get("rank")))
    watch.victims.pop(row.node, None)
    return None


_READERS: Mapping[str, Callable[[_Watch, Observation], Told]] = {
    "kernel.line": _kernel,
    "link": _link,
    "accelerator": _accelerator,
    "process": _process,
    "oom": _oom,
    "boot": _boot,
    "gate.out": _gate,
    "elastic.ended": _elastic,
    "worker.ended": _worker,
    "rank.failed": _failed,
    "rank.finished": _finished,
    "rank.up": _begun,
}
