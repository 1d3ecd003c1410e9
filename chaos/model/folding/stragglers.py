"""Slow ranks, from the time that each rank spends in its own computation.

In a synchronous job every rank ends a step together, so the step time cannot tell who is slow; the compute time can.
"""

from __future__ import annotations

from statistics import median

from chaos.model.folding.steps import DoneStep, progress
from chaos.model.history import History
from chaos.model.observations import Alarm

SLOW_RATIO = 1.33
"""A rank is slow at 4/3 of the others' median: the inverse of the score 0.75 below which NVIDIA's resiliency extension flags one."""

SLOW_STEPS = 3
"""So many steps in a row, so that one step disturbed by the operating system names nobody."""


def straggler_alarms(history: History, workload: str) -> tuple[Alarm, ...]:
    """One alarm whenever a rank has been slow for :data:`SLOW_STEPS` steps in a row, at the end of the last of them."""
    return history.remember(("stragglers", workload), lambda: _find(history, workload))


def _find(history: History, workload: str) -> tuple[Alarm, ...]:
    streaks: dict[int, int] = {}
    found = []
    for _, _, step in progress(history, workload).steps:
        slow = _slow_ranks(step)
        streaks = {rank: streaks.get(rank, 0) + 1 for rank in slow}
        for rank, node in slow.items():
            if streaks[rank] == SLOW_STEPS:
                found.append(Alarm(node, step.at, step.error, f"straggler: rank {rank}", True, step.evidence[-1]))
    return tuple(found)


def _slow_ranks(step: DoneStep) -> dict[int, str]:
    times = {int(r.data["rank"]): (r.node, r.data.get("compute_seconds")) for r in step.reports}
    known = {rank: float(value) for rank, (_, value) in times.items() if isinstance(value, int | float) and value > 0}
    if len(known) < 3 or len(known) < len(times):
        return {}
    slow = {}
    for rank, mine in known.items():
        others = median(value for other, value in known.items() if other != rank)
        if mine >= SLOW_RATIO * others:
            slow[rank] = times[rank][0]
    return slow
