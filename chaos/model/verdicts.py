"""What a criterion says, and everything that a reader needs to believe it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The five grades. Missing evidence never passes: it is INCONCLUSIVE; a test that did not do what it claims is INVALID."""

    PASS = "PASS"  # noqa: S105 - a grade, not a password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"
    NOT_APPLICABLE = "NOT APPLICABLE"


_WORST_FIRST = (Outcome.FAIL, Outcome.INVALID, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_APPLICABLE)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a whole: a failure outweighs doubt, doubt outweighs a pass; nothing graded is INCONCLUSIVE."""
    present = set(outcomes)
    for outcome in _WORST_FIRST:
        if outcome in present and outcome is not Outcome.NOT_APPLICABLE:
            return outcome
    return Outcome.INCONCLUSIVE


class Strength(StrEnum):
    """``OBSERVED``: the point estimate. ``DEMONSTRATED``: a one-sided bound at a stated confidence."""

    OBSERVED = "observed"
    DEMONSTRATED = "demonstrated"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit with its unit, where it comes from, and the range in which it can decide anything.

    ``relation`` is ``<=`` or ``>=`` (or ``==``): measured, relation, value.
    """

    value: float
    unit: str
    relation: str
    source: str
    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.relation} {self.value:.10g} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured value as an interval: unobserved time makes it wide. ``value`` None means that nothing was measured."""

    value: float | None
    low: float | None
    high: float | None
    unit: str
    text: str = ""

    def __str__(self) -> str:
        return self.text or (f"{self.value:.6g} {self.unit}".rstrip() if self.value is not None else "nothing measured")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Samples expected against seen, with what is missing by name."""

    expected: int
    seen: int
    of: str
    missing: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether at least one sample was expected and all were seen."""
        return 0 < self.expected <= self.seen and not self.missing

    def __str__(self) -> str:
        return f"{self.seen} of {self.expected} {self.of}"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What the evidence proves at a confidence, and what a full proof of the claim would still need."""

    confidence: float
    bound: float | None
    unit: str
    text: str
    still_needed: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The grade of one criterion, with its evidence.

    ``signs``: whether the certificate's outcome depends on it; a criterion that only informs is printed beside.
    ``sentence`` is one sentence that a reader can act on. ``evidence`` are ledger event numbers. ``details`` are further lines
    (label, text), such as the other readings of availability.
    """

    criterion: str
    title: str
    outcome: Outcome
    measured: Measurement
    threshold: Threshold | None
    strength: Strength
    coverage: Coverage
    sentence: str
    evidence: tuple[int, ...] = ()
    demonstrated: Demonstration | None = None
    details: tuple[tuple[str, str], ...] = ()
    signs: bool = True
    family: str = ""


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """Whether a criterion rejected its known-bad history and accepted its known-good one before the run was graded."""

    criterion: str
    rejects_bad: bool
    accepts_good: bool
    why: str = ""

    @property
    def barks(self) -> bool:
        """Whether the gate can be trusted."""
        return self.rejects_bad and self.accepts_good


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts over one history under one profile. A canary that does not bark voids the whole."""

    profile: str
    profile_digest: str
    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    canaries: tuple[CanaryResult, ...]
    does_not_show: tuple[str, ...] = field(default_factory=tuple)

    @property
    def exit_code(self) -> int:
        """0 accepted, 1 a criterion failed, 3 inconclusive or invalid."""
        return {Outcome.PASS: 0, Outcome.FAIL: 1}.get(self.outcome, 3)
