"""What can be seen on a node, and which of it names a culprit.

The key ``what`` of an observation and its ``data``:

===================== ==================================================================================================
``kernel.line``       text, priority, sequence, injected (bool): a line of the kernel log
``link``              interface, operstate, carrier (0/1), carrier_changes: a link changed
``accelerator``       index, uuid, lost (bool), ecc_corrected, ecc_uncorrected, temperature: a device's state changed
``process``           rank, local_rank, pid, state (R, S, D, T, gone): a rank's process changed its state
``oom``               path, oom_kills: a cgroup killed a process
``boot``              boot_id: the node came up again
``guard.fired``       guard, why, failures: a guard undid a fault without the controller
``watch.gap``         watch, why, lost: something was not seen (overflow, rotation)
``gate.out``          reasons: the node's health gate took it out of the job
``gate.in``           the gate lets it in again
``elastic.started``   pid: the node's elastic agent runs
``elastic.ended``     exit_status
``rendezvous.done``   round, node_rank, nodes, world
``workers.started``   round, workers: [{local_rank, pid, started}]
``worker.ended``      local_rank, exit_status, signal: it died by itself; one that its agent ends is not told
``rank.up``           rank, local_rank, world, round, pid, started
``rank.communicator`` rank, world, round, proven (sum of ranks seen by a first all-reduce)
``rank.loaded``       rank, step, path, sha256 (step 0: started fresh)
``rank.step``         rank, step, loss (hexadecimal float), seconds, compute_seconds
``rank.saved``        rank, step, path, sha256, bytes, stall_seconds
``rank.failed``       rank, error (class name), text
``rank.finished``     rank, step
===================== ==================================================================================================

``rank.step`` and ``rank.saved`` are raw series: they are attachments, everything else stands in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SERIES = frozenset({"rank.step", "rank.saved"})
"""What is kept as an attachment rather than as ledger events."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing seen on one node, on the controller's clock; ``evidence`` is the number of the ledger event it comes from."""

    node: str
    what: str
    at: float
    error: float
    data: Mapping[str, Any]
    workload: str = ""
    evidence: int = 0


@dataclass(frozen=True, slots=True)
class Alarm:
    """An observation that says something is wrong. ``names_culprit``: it points at a node as the cause, not as a victim."""

    node: str
    at: float
    error: float
    cause: str
    names_culprit: bool
    evidence: int
