"""All-reduce over a sweep of sizes: the load that proves the network and every rank's arithmetic on it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, pstdev
from typing import Any, ClassVar

from chaos.model.nodes import Node
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.progress import read_event
from chaos.workloads.shipping import place, shipped


@dataclass(frozen=True, slots=True)
class AllReduce(Workload):
    """All-reduce of 32-bit integers with known sums, timed iteration by iteration.

    algbw = size / time; busbw = algbw * 2 (n - 1) / n, as nccl-tests defines them; the time of an iteration is the slowest rank's.
    """

    kind: ClassVar[str] = "all-reduce"
    title: ClassVar[str] = "All-reduce sweep with exact sums"
    measures: ClassVar[bool] = True

    sizes: tuple[int, ...] = (4_096, 65_536, 1_048_576)
    iterations: int = 20
    warmup: int = 3

    def program(self, node: Node, name: str) -> Program:
        """What each rank runs."""
        del node
        parameters = {"sizes": list(self.sizes), "iterations": self.iterations, "warmup": self.warmup, "patience": 30.0}
        return Program(
            argv=(json.dumps(parameters),),
            entry="chaos_all_reduce:main",
            files=shipped(name, "chaos_rank", "chaos_all_reduce"),
            environment={"PYTHONPATH": place(name)},
        )

    def read(self, line: str) -> Reading | None:
        """An event of a rank or of the launcher."""
        return read_event(line)

    def rows(self, readings: tuple[Reading, ...]) -> tuple[Mapping[str, Any], ...]:
        """One row a size; a result without times is left out, so that it is missing rather than zero."""
        return tuple(
            _row(reading.data) for reading in readings if reading.what == "collective.result" and reading.data.get("times")
        )


def _row(data: Mapping[str, Any]) -> Mapping[str, Any]:
    times = sorted(float(value) for value in data["times"])
    typical, size, ranks = median(times), int(data["size_bytes"]), int(data["ranks"])
    algorithm = size / typical
    return {
        "size_bytes": size,
        "iterations": len(times),
        "time_us": typical * 1e6,
        "algbw_gbps": algorithm / 1e9,
        "busbw_gbps": algorithm * 2 * (ranks - 1) / ranks / 1e9,
        "wrong": int(data["wrong"]),
        "ranks": ranks,
        "jitter_spread_us": (_quantile(times, 0.999) - _quantile(times, 0.001)) * 1e6,
        "jitter_worst_us": max(abs(value - typical) for value in times) * 1e6,
        "jitter_deviation_us": pstdev(times) * 1e6,
        "times_us": [value * 1e6 for value in data["times"]],
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Nearest rank, as nccl-tests takes percentiles."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
