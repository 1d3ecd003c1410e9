"""Slow ranks, from the time that each rank spends in its own computation.

In a synchronous job every rank ends a step together, so the step time cannot tell who is slow; the compute time can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from statistics import mean, median

from chaos.model.folding.steps import DoneStep, progress
from chaos.model.history import History
from chaos.model.observations import Alarm

SLOW_RATIO = 1.33
"""A rank is slow at 4/3 of the others' median: the inverse of the score 0.75 below which NVIDIA's resiliency extension flags one."""

COST_SHARE = 0.1
"""What it loses must be a tenth of the step: a job counts as held up from 1.1 times its ideal time on, and less is noise."""

WINDOW = 5
"""Means over so many steps, so that one step disturbed by the operating system names nobody."""

Slow = Mapping[int, str]


def straggler_alarms(history: History, workload: str) -> tuple[Alarm, ...]:
    """One alarm whenever a rank begins to be slow, at the end of the window that shows it."""
    return history.remember(("stragglers", workload), lambda: _find(history, workload))


def _find(history: History, workload: str) -> tuple[Alarm, ...]:
    window: deque[DoneStep] = deque(maxlen=WINDOW)
    before: Slow = {}
    current, found = -1, []
    for _, index, step in progress(history, workload).steps:
        if index != current:
            window.clear()
            current, before = index, {}
        window.append(step)
        slow = _slow_ranks(window) if len(window) == WINDOW else {}
        new = (rank for rank in slow if rank not in before)
        found += [Alarm(slow[rank], step.at, step.error, f"straggler: rank {rank}", True, step.evidence[-1]) for rank in new]
        before = slow
    return tuple(found)


def _slow_ranks(window: deque[DoneStep]) -> Slow:
    times: dict[int, list[float]] = {}
    nodes: dict[int, str] = {}
    for step in window:
        for report in step.reports:
            rank, value = int(report.data["rank"]), report.data.get("compute_seconds")
            nodes[rank] = report.node
            if isinstance(value, int | float) and value > 0:
                times.setdefault(rank, []).append(float(value))
    means = {rank: mean(values) for rank, values in times.items() if len(values) == len(window)}
    if len(means) < 3 or len(means) < len(nodes):
        return {}
    cost = COST_SHARE * mean(step.seconds for step in window)
    middle = median(means.values())
    return {rank: nodes[rank] for rank, mine in means.items() if mine >= SLOW_RATIO * middle and mine - middle >= cost}
