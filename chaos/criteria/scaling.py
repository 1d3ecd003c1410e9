"""Weak scaling of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from chaos.criteria.canaries.quick_run import quick_run
from chaos.criteria.ruling import Found, compare, rule
from chaos.criteria.thresholds import floor
from chaos.model.events import Measured, RunClosed
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Measurement, Outcome, Threshold, Verdict
from chaos.protocols.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Scaling(Criterion):
    """Throughput for each node stays what it is on one node: (thr_N / N) / (thr_1 / 1), same model, same work for each accelerator.

    The reference is the smallest size measured, the claim is about the largest; both are printed. Not measured is INCONCLUSIVE.
    """

    kind: ClassVar[str] = "scaling"
    title: ClassVar[str] = "Training scales over nodes"
    family: ClassVar[str] = "performance"

    at_least: Threshold = floor(
        0.93, "of linear", "seed figure: scaling above 93 % at 1000 cards", sane=(0.1, 1.2), possible=(0, 2)
    )

    def grade(self, history: History) -> Verdict:
        measured = [(number, body) for number, body in history.of(Measured) if body.type == "scaling"]
        points = [(*point, number) for number, body in measured for row in body.rows if (point := _point(row)) is not None]
        sizes = sorted(points)
        if len({size for size, _, _ in sizes}) < 2:
            nothing = Found(
                Outcome.INCONCLUSIVE, "Scaling was not measured: it takes two sizes.", Coverage(2, len(sizes), "sizes")
            )
            return rule(self, history, self.at_least, nothing)
        (small, reference, _), (large, throughput, number) = sizes[0], sizes[-1]
        value = (throughput / large) / (reference / small)
        found = Found(
            compare(value, value, self.at_least),
            f"{large} nodes do {value:.2%} of {large}/{small} times what {small} do (weak scaling).",
            Coverage(len(sizes), len(sizes), "sizes"),
            Measurement(value, value, value, self.at_least.unit),
            (number,),
        )
        return rule(self, history, self.at_least, found)

    @classmethod
    def known_good(cls) -> tuple[Self, History]:
        return cls(), _measured_scaling(390.0)

    @classmethod
    def known_bad(cls) -> tuple[Self, History]:
        return cls(), _measured_scaling(300.0)


def _point(row: Mapping[str, Any]) -> tuple[int, float] | None:
    nodes, throughput = row.get("nodes"), row.get("samples_per_second")
    if isinstance(nodes, int) and isinstance(throughput, int | float) and nodes > 0 and throughput > 0:
        return nodes, float(throughput)
    return None


def _measured_scaling(throughput: float) -> History:
    rows = ({"nodes": 1, "samples_per_second": 100.0}, {"nodes": 4, "samples_per_second": throughput})
    history = quick_run(())
    last = next(event for event in history.events if isinstance(event.body, RunClosed))
    body = Measured("scaling", "scaling", 8, 8, ("node1", "node2", "node3", "node4"), rows)
    closing = replace(last, sequence=last.sequence + 1)
    return History((*history.events[:-1], replace(last, body=body), closing), history.series)
