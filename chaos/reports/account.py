"""An account of a run: everything that a certificate states, as one value. HTML and JSON tell the same account.

Nothing is computed here that the history or the judgement does not already say; what they do not say is None, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaos.model.timeline import Timeline
from chaos.model.verdicts import CanaryResult, Verdict

VERSION = 1
"""Of the JSON form. It goes up when a field changes its meaning or goes away; new fields may come without."""


@dataclass(frozen=True, slots=True)
class RunAccount:
    """Which run this is, and by what its record can be told from any other. Times are UTC in ISO 8601."""

    run_id: str
    purpose: str
    cluster: str
    is_virtual: bool
    opened: str
    closed: str | None
    outcome: str
    seed: int | None
    nodes: tuple[str, ...]
    spares: tuple[str, ...]
    contracted_slots: int | None
    events: int
    ledger_head: str
    plan_digest: str
    inventory_digest: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StepAccount:
    """A step of the plan. ``outcome``: done, failed, begun (never ended) or planned (never begun). ``took`` is in seconds."""

    step: str
    title: str
    outcome: str
    took: float | None
    why: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoadAccount:
    """A load that was started. ``recovered_by`` is whose recovery was under test."""

    workload: str
    type: str
    launcher: str
    recovered_by: str
    nodes: tuple[str, ...]
    spares: tuple[str, ...]
    expected_ranks: int
    parameters: Mapping[str, Any]
    outcome: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FaultAccount:
    """One attempt at an injection. ``effect`` and ``cleared`` say whether the fault was seen to come and to go.

    ``control_flagged``: what the proof said on a node where the fault was not; None when it was not asked.
    """

    injection: str
    attempt: int
    fault: str
    catalogue_id: str
    parameters: Mapping[str, Any]
    node: str
    severity: str
    fidelity: str
    mechanism: str
    layer: str
    fault_class: str
    effect: bool
    cleared: bool
    last_state: str
    proof: str
    control_flagged: bool | None
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodeAccount:
    """What was seen of a node: how often it answered, its boots, its losses, and how exactly its clock is known, in seconds."""

    node: str
    role: str
    reached: int
    boots: int
    lost: int
    clock_error: float | None
    quarantined: str


@dataclass(frozen=True, slots=True)
class NumberAccount:
    """One of the three numbers that the certificate is about, and the verdicts over it; none when the profile does not grade it."""

    name: str
    claim: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """The whole account. Fields of the JSON certificate in this order."""

    version: int
    profile: str
    profile_digest: str
    outcome: str
    exit_code: int
    run: RunAccount
    numbers: tuple[NumberAccount, ...]
    verdicts: tuple[Verdict, ...]
    canaries: tuple[CanaryResult, ...]
    steps: tuple[StepAccount, ...]
    loads: tuple[LoadAccount, ...]
    faults: tuple[FaultAccount, ...]
    recoveries: tuple[Timeline, ...]
    nodes: tuple[NodeAccount, ...]
    unobserved: tuple[str, ...]
    remarks: tuple[str, ...]
    does_not_show: tuple[str, ...]

    @property
    def signing(self) -> tuple[Verdict, ...]:
        """The verdicts that the outcome depends on."""
        return tuple(verdict for verdict in self.verdicts if verdict.signs)

    @property
    def informing(self) -> tuple[Verdict, ...]:
        """The verdicts that are printed beside."""
        return tuple(verdict for verdict in self.verdicts if not verdict.signs)

    @property
    def is_void(self) -> bool:
        """Whether a gate did not bark, so that no verdict of this run counts."""
        return not all(canary.barks for canary in self.canaries)

    @property
    def recovered_by(self) -> tuple[str, ...]:
        """Whose recovery was under test."""
        return tuple(dict.fromkeys(load.recovered_by for load in self.loads if load.type == "training" or load.spares))
