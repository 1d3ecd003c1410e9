"""Bus bandwidth of all-reduce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from chaos.criteria.canaries.quick_run import quick_run
from chaos.criteria.ruling import Found, compare, rule
from chaos.criteria.thresholds import no_limit
from chaos.model.folding.collectives import Sweep, sweeps
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion

UNIT = "GB/s"


@dataclass(frozen=True, slots=True)
class AllReduceBandwidth(Criterion):
    """The bus bandwidth of all-reduce at one size: algbw x 2 (n - 1) / n, as nccl-tests defines it, from the median time.

    Without a threshold it only informs. ``size_bytes`` 0 means the largest size measured. A transport other than the one that the
    cluster is sold with, such as gloo over TCP, is printed with the number.
    """

    kind: ClassVar[str] = "all_reduce_bandwidth"
    title: ClassVar[str] = "All-reduce reaches its bandwidth"
    family: ClassVar[str] = "performance"

    at_least: Threshold | None = no_limit(UNIT, ">=")
    size_bytes: int = 0

    def grade(self, history: History) -> Verdict:
        found = sweeps(history)
        row = found[-1].row(self.size_bytes) if found else None
        value = row.get("busbw_gbps") if row else None
        if not found or row is None or not isinstance(value, int | float):
            nothing = Found(Outcome.INCONCLUSIVE, "No bandwidth was measured at this size.", Coverage(1, 0, "sizes"))
            return rule(self, history, self.at_least, nothing)
        return rule(self, history, self.at_least, self._found(found[-1], int(row["size_bytes"]), float(value)))

    def _found(self, sweep: Sweep, size: int, value: float) -> Found:
        over = f" over {sweep.measured.transport}" if sweep.measured.transport else ""
        sentence = f"{value:.4g} {UNIT} at {size} bytes on {sweep.measured.ranks_expected} ranks{over}."
        coverage = Coverage(1, 1, "sizes")
        measured = Measurement(value, value, value, UNIT)
        if sweep.invalid:
            return Found(Outcome.INVALID, f"{sweep.invalid[0]}.", coverage, evidence=(sweep.sequence,))
        outcome = compare(value, value, self.at_least) if self.at_least else Outcome.NOT_APPLICABLE
        return Found(outcome, sentence, coverage, measured, (sweep.sequence,), details=_table(sweep))

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(_at_least(0.1)), quick_run(())

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(_at_least(400.0)), quick_run(())


def _at_least(value: float) -> Threshold:
    return Threshold(value, UNIT, ">=", "canary", 0.01, 1000.0)


def _table(sweep: Sweep) -> tuple[tuple[str, str], ...]:
    return tuple((f"{row.get('size_bytes')} bytes", f"{row.get('busbw_gbps')} {UNIT} bus") for row in sweep.rows)
