"""Availability over contracted capacity."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Self

from chaos.criteria.canaries.long_run import long_run
from chaos.criteria.ruling import Found, compare, rule
from chaos.criteria.statistics.reliability import needed_slot_days, slot_availability_lower
from chaos.criteria.thresholds import floor
from chaos.model.folding.slots import Service, Share, service
from chaos.model.history import History
from chaos.model.quantities import Percentage
from chaos.model.verdicts import Coverage, Demonstration, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion

UNIT = "share of contracted slot time in service"
RESTORE_SECONDS = 300.0
"""The restore time that the demonstrated bound assumes for each outage: the recovery limit of the same claim."""

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Availability(Criterion):
    """Contracted node slots are in service for the promised share of the time (A_cap).

    A slot is out of service from the first sign of a broken part until its node passes the health gate again or a spare is up in its
    place. What a drill did to its own target leaves both sides; what it broke elsewhere, or left behind, counts. Unobserved time is
    neither up nor down, and so is the part of the promised time that was never watched: the result is an interval, PASS only if its
    low end passes, FAIL only if its high end fails. A_node, A_kofn and A_job are other units; they stand beside it and are never mixed.
    """

    kind: ClassVar[str] = "availability"
    title: ClassVar[str] = "Contracted capacity is available"
    family: ClassVar[str] = "availability"

    at_least: Threshold = floor(0.99995, "share", "seed figure: 99.995 %", sane=(0.5, 0.9999999), possible=(0, 1))
    over: Threshold = floor(720, "h", "seed figure: 720 hours", sane=(0.01, 100_000))
    confidence: Percentage = Percentage(Decimal(90))

    def grade(self, history: History) -> Verdict:
        seen = service(history)
        capacity = self._with_unwatched(seen)
        outcome = compare(capacity.low, capacity.high, self.at_least) if seen.capacity.total > 0 else Outcome.INCONCLUSIVE
        watched = (seen.window.end - seen.window.start) / 3600
        found = Found(
            outcome=outcome,
            sentence=self._sentence(outcome, capacity, watched),
            coverage=Coverage(seen.slots, seen.slots if seen.capacity.total > 0 else 0, "contracted slots"),
            measured=_measured(capacity, seen.capacity),
            evidence=tuple(event.sequence for event in (history.events[:1] + history.events[-1:])),
            demonstrated=self._demonstrate(seen),
            details=_details(seen),
        )
        return rule(self, history, self.at_least, found)

    def _with_unwatched(self, seen: Service) -> Share:
        """The part of the promised time that was never watched is unobserved like any other."""
        promised = seen.slots * self.over.value * 3600 - seen.removed
        return Share(seen.capacity.up, seen.capacity.down, seen.capacity.unknown + max(0.0, promised - seen.capacity.total))

    def _sentence(self, outcome: Outcome, capacity: Share, watched: float) -> str:
        if capacity.total <= 0 or capacity.low is None or capacity.high is None:
            return "No slot was watched, so nothing is known about its availability."
        span = f"between {capacity.low:.6%} and {capacity.high:.6%} over {self.over.value:g} {self.over.unit}"
        if outcome is Outcome.INCONCLUSIVE:
            return f"Capacity was available {span}: {watched:.4g} h were watched, the rest is unobserved."
        return f"Capacity was available {span}, {capacity.down:.6g} slot-seconds out of service."

    def _demonstrate(self, seen: Service) -> Demonstration | None:
        days = (seen.capacity.up + seen.capacity.down) / _DAY
        if days <= 0:
            return None
        confidence, outages = float(self.confidence.fraction), len(seen.outages)
        bound = max(0.0, slot_availability_lower(days, outages, RESTORE_SECONDS, confidence))
        need = needed_slot_days(self.at_least.value, outages, RESTORE_SECONDS, confidence)
        text = (
            f"{days:.4g} slot-days with {outages} outages show at least {bound:.6%} at {self.confidence}, restored in 300 s each"
        )
        more = f"{need - days:.5g} more slot-days without an outage" if need > days else ""
        return Demonstration(confidence, bound, UNIT, text, more)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), long_run()

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), long_run(outage_after=300, outage=9000.0)


def _measured(capacity: Share, observed: Share) -> Measurement:
    if observed.point is None:
        return Measurement(None, None, None, UNIT)
    text = f"{observed.point:.6%} of observed slot time"
    return Measurement(observed.point, capacity.low, capacity.high, UNIT, text)


def _details(seen: Service) -> tuple[tuple[str, str], ...]:
    return (
        ("A_cap, slots in service over contracted slots", tell_share(seen.capacity)),
        ("A_node, healthy node time over all node time", tell_share(seen.node)),
        (f"A_kofn, time with at least {seen.slots} nodes in service", tell_share(seen.enough_nodes)),
        ("A_job, time of the jobs without a natural stall", tell_share(seen.job)),
        ("taken out of both sides (injected)", f"{seen.removed:.6g} slot-seconds"),
        ("outages that count", ", ".join(f"{n} {end - start:.4g} s" for n, start, end in seen.outages[:10]) or "none"),
    )


def tell_share(share: Share) -> str:
    """A share as an interval, with its seconds."""
    if share.low is None or share.high is None:
        return "not observed"
    span = f"{share.low:.6%}" if share.unknown <= 0 else f"{share.low:.6%} to {share.high:.6%}"
    return f"{span} ({share.up:.6g} s up, {share.down:.6g} s down, {share.unknown:.6g} s unknown)"
