"""Interruptions of a logical task, and who caused them: a drill of ours, or nature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from chaos.model.events import RunResumed, WorkloadEnded, WorkloadStarted
from chaos.model.folding.injections import drills
from chaos.model.folding.steps import Progress, progress
from chaos.model.history import History
from chaos.model.intervals import Spans

STALL_SECONDS = 60.0
"""A pause of the steps counts as an interruption when it lasts a minute and three times the usual spacing."""


@dataclass(frozen=True, slots=True)
class Task:
    """One training load over the whole run, across its restarts.

    ``hours``: first to last step done. ``natural``: times of interruptions that no drill caused; ``injected``: how many drills did.
    ``unrecovered``: what ended the task, or took a human; ``unobserved``: seconds in which nobody watched.
    """

    workload: str
    hours: float
    natural: tuple[float, ...]
    injected: int
    unrecovered: tuple[str, ...]
    unobserved: float
    evidence: tuple[int, ...]


def tasks(history: History) -> tuple[Task, ...]:
    """Every training load that did steps, the longest first."""
    names = dict.fromkeys(body.workload for _, body in history.of(WorkloadStarted))
    found = [task for name in names if (task := _task(history, name)) is not None]
    return tuple(sorted(found, key=lambda task: -task.hours))


def _task(history: History, name: str) -> Task | None:
    told = progress(history, name)
    if not told.steps:
        return None
    struck = _struck(history, name)
    breaks = _breaks(told)
    natural = tuple(at for at in breaks if not struck.contains(at))
    first, last = told.steps[0], told.steps[-1]
    evidence = (*first[2].evidence, *last[2].evidence)
    unseen = Spans.of(_unseen(history)).clip(first[0], last[0]).total
    return Task(
        name, (last[0] - first[0]) / 3600, natural, len(breaks) - len(natural), _unrecovered(history, name), unseen, evidence
    )


def _struck(history: History, name: str) -> Spans:
    """From the effect of each drill's fault to the end of the drill: what breaks in between is the drill's doing."""
    pairs = []
    for drill in drills(history):
        start = drill.injection.earliest_effect if drill.injection else None
        if drill.begun.workload == name and start is not None:
            end = drill.ended[1].at if drill.ended else drill.horizon
            pairs.append((start, max(start, end)))
    return Spans.of(pairs)


def _breaks(told: Progress) -> list[float]:
    """When steps paused: the last step before each change of the round and before each long stall."""
    gaps = sorted(second[0] - first[0] for first, second in pairwise(told.steps))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    found = []
    for (at, index, _), (after, next_index, _) in pairwise(told.steps):
        if next_index != index or after - at > max(STALL_SECONDS, 3 * usual):
            # The pause began when the next step did not come: shortly after the last one, not at it.
            found.append(min(after, at + usual))
    return found


def _unrecovered(history: History, name: str) -> tuple[str, ...]:
    starts = [body for _, body in history.of(WorkloadStarted) if body.workload == name]
    ends = [body for _, body in history.of(WorkloadEnded) if body.workload == name]
    found = [f"started {len(starts)} times by the harness"] if len(starts) > 1 else []
    found += [f"{body.outcome}: {body.why or 'not said why'}" for body in ends if body.outcome == "failed"]
    missed = [d.begun.drill for d in drills(history) if d.begun.workload == name and d.ended and d.ended[1].outcome == "missed"]
    return (*found, *(f"{drill} did not recover" for drill in missed))


def _unseen(history: History) -> list[tuple[float, float]]:
    resumed = [(e.body.unobserved_from, e.stamp.monotonic) for e in history.events if isinstance(e.body, RunResumed)]
    return [(start, max(start, end)) for start, end in resumed]
