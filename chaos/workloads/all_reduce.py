"""An all-reduce sweep over message sizes: time, bandwidth, jitter and whether every element was right."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from chaos.model.nodes import Node
from chaos.protocols.workload import Program, Reading, Workload
from chaos.workloads.shipped import folder, programs, read_event

_SIZES = (8, 4_096, 65_536, 1_048_576, 4_194_304)


@dataclass(frozen=True, slots=True)
class AllReduce(Workload):
    """Sums float32 buffers of several sizes over all ranks with torch.distributed (NCCL on GPUs, Gloo on CPUs).

    Each iteration is timed on all ranks after they have met, and counts as long as the slowest. ``algbw`` is size over time, ``busbw``
    is algbw times 2(n-1)/n, as nccl-tests define them; with one rank nothing is transported and busbw is 0. Contents are integers
    whose sum float32 holds exactly, and every element of every result is compared with it.
    """

    kind: ClassVar[str] = "all-reduce"
    title: ClassVar[str] = "All-reduce sweep"
    measures: ClassVar[bool] = True

    sizes: tuple[int, ...] = _SIZES
    iterations: int = 50
    warm_up: int = 5

    def program(self, node: Node, name: str) -> Program:
        parameters = {"sizes": self.sizes, "iterations": self.iterations, "warm_up": self.warm_up}
        return Program(
            argv=(node.python, f"{folder(name)}/all_reduce.py"),
            entry="all_reduce:main",
            files=programs(name, "all_reduce.py", "rank.py"),
            environment={"PYTHONPATH": folder(name), "CHAOS_ALL_REDUCE": json.dumps(parameters, sort_keys=True)},
        )

    def read(self, line: str) -> Reading | None:
        return read_event(line)

    def rows(self, readings: tuple[Reading, ...]) -> tuple[Mapping[str, Any], ...]:
        """One row for each size that was measured; a sweep that was started again counts once, with its last measurement."""
        by_size = {reading.data["size_bytes"]: reading.data for reading in readings if reading.what == "all_reduce.size"}
        return tuple(_row(by_size[size]) for size in sorted(by_size))


def _row(data: Mapping[str, Any]) -> Mapping[str, Any]:
    times, ranks, size = sorted(data["times_us"]), data["ranks"], data["size_bytes"]
    median = statistics.median(times) if times else None
    algbw = size / median / 1_000 if median else None  # bytes per microsecond are MB/s
    return {
        "size_bytes": size,
        "ranks": ranks,
        "iterations": len(times),
        "time_us_median": median,
        "algbw_gbps": algbw,
        "busbw_gbps": None if algbw is None else algbw * 2 * (ranks - 1) / ranks,
        "wrong": data["wrong"],
        **_jitter(times, median),
        "transport": data["transport"],
    }


def _jitter(times: Sequence[float], median: float | None) -> Mapping[str, float | None]:
    if median is None:
        return dict.fromkeys(("jitter_us_p999_p001", "jitter_us_max_deviation", "jitter_us_sd"))
    return {
        "jitter_us_p999_p001": _nearest_rank(times, 0.999) - _nearest_rank(times, 0.001),
        "jitter_us_max_deviation": max(abs(time - median) for time in times),
        "jitter_us_sd": statistics.pstdev(times),
    }


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
