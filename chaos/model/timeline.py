"""The timeline of a recovery: marks T0..T11 and the phases between them.

===== ============================================== =====================================================================
mark  meaning                                        evidence
===== ============================================== =====================================================================
T0    the fault took effect                          the injection's proof of effect
T1    the last good step ended                       the last ``rank.step`` of all ranks that ended before the disturbance
T2    detected                                       the first alarm on any node after T0
T3    culprit named                                  the first alarm that names a culprit
T4    isolated                                       the faulty part no longer takes part: gate out, worker ended, node lost
T5    replacement bound                              the rendezvous that the next workers come from is complete
T6    processes up                                   every rank of the new round is up
T7    communicator ready                             every rank has proven a first collective
T8    checkpoint loaded                              every rank has loaded
T9    first new step done                            every rank has ended its first step after the disturbance
T10   caught up                                      the highest step before the fault is reached again
T11   full speed                                     k consecutive steps within 5 % of the median before the fault
===== ============================================== =====================================================================

A mark that a recovery did not need (a flap that was ridden out restarts nothing) is absent with its reason; a mark that should be
there and is not is absent as missing evidence. The two are never the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MARKS = tuple(f"T{number}" for number in range(12))


class MarkState(StrEnum):
    """Seen, not part of this kind of recovery, or missing."""

    SEEN = "seen"
    NOT_NEEDED = "not needed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Mark:
    """One moment of a recovery, in seconds on the controller's clock, within ``error``."""

    name: str
    state: MarkState
    at: float | None = None
    error: float = 0.0
    node: str = ""
    cause: str = ""
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """All marks of one drill. ``outcome``: recovered, missed, aborted or ``unfinished`` (the record does not say how it ended).

    ``path``: how it recovered: restart, replace, fall back, ride out, degrade, or none. Full speed (T11) was asked for over
    ``full_speed_steps`` steps within ``full_speed_tolerance`` of the pace before the fault. ``undone_at``: controller clock, seconds.
    """

    drill: str
    fault: str
    fault_class: str
    fidelity: str
    node: str
    outcome: str
    path: str
    marks: Mapping[str, Mark]
    named_node: str
    lost_steps: int | None
    restored_step: int | None
    affected_nodes: tuple[str, ...]
    ranks_stalled: int
    expects: str = ""
    limit_seconds: float = 300.0
    undone_at: float | None = None
    highest_step: int | None = None
    full_speed_steps: int = 0
    full_speed_tolerance: float = 0.0
    injection: str = ""
    evidence: tuple[int, ...] = ()

    def since_fault(self, name: str) -> float | None:
        """Seconds from T0 to a mark, or None when either was not seen."""
        start, end = self.marks["T0"].at, self.marks[name].at
        return None if start is None or end is None else end - start

    @property
    def recovery_seconds(self) -> float | None:
        """T9 - T0: fault takes effect to first new training step done.

        A degradation stops nothing, so there is no new step to wait for: there it is undo to full speed (T11).
        """
        if self.path != "degrade":
            return self.since_fault("T9")
        end = self.marks["T11"].at
        return None if end is None or self.undone_at is None else end - self.undone_at

    @property
    def recovery_error(self) -> float:
        """How far :attr:`recovery_seconds` may be off, in seconds: the errors of both of its marks."""
        return self.marks["T0"].error + self.marks["T11" if self.path == "degrade" else "T9"].error
