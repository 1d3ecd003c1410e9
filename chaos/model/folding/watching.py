"""What was watched on each node, and where the watching has holes."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.model.events import ClockMeasured, NodeLost, NodeReached, StepDone, WorkloadStarted
from chaos.model.history import History

PARTS = ("link", "accelerator", "kernel.line")
"""Watches that say at once what they find when they begin, or speak when something breaks."""


def all_nodes(history: History) -> tuple[str, ...]:
    """The nodes that the run was opened with, spares included."""
    opening = history.opening
    return (*opening.nodes, *opening.spares) if opening else ()


def unwatched_nodes(history: History) -> tuple[str, ...]:
    """Nodes of the run from which no watch of a part ever said anything."""
    heard = {row.node for row in history.observations(*PARTS)}
    return tuple(name for name in all_nodes(history) if name not in heard)


def unreached_nodes(history: History) -> tuple[str, ...]:
    """Nodes on which no agent ever answered."""
    reached = {body.node for _, body in history.of(NodeReached)}
    return tuple(name for name in all_nodes(history) if name not in reached)


def unmeasured_boots(history: History) -> tuple[str, ...]:
    """Nodes with a boot whose clock was never measured: what they said then proves no duration."""
    measured = {(body.node, body.boot_id) for _, body in history.of(ClockMeasured)}
    return tuple(dict.fromkeys(b.node for _, b in history.of(NodeReached) if (b.node, b.boot_id) not in measured))


def clock_errors(history: History) -> Mapping[str, float]:
    """The largest error, in seconds, with which each node's clock is known."""
    errors: dict[str, float] = {}
    for _, body in history.of(ClockMeasured):
        errors[body.node] = max(errors.get(body.node, 0.0), body.error)
    return errors


def silent_workers(history: History) -> tuple[str, ...]:
    """Nodes that were to run a load and never said anything about it, as ``node (load)``."""
    found = []
    for _, load in history.of(WorkloadStarted):
        heard = {row.node for row in history.observations(workload=load.workload)}
        found += [f"{name} ({load.workload})" for name in load.nodes if name not in heard]
    return tuple(dict.fromkeys(found))


def lost_for_good(history: History) -> tuple[str, ...]:
    """Nodes whose channel broke before the work was done and never came back."""
    last_step = max((number for number, _ in history.of(StepDone)), default=0)
    state: dict[str, bool] = {}
    for event in history.events:
        if isinstance(event.body, NodeReached):
            state[event.body.node] = False
        elif isinstance(event.body, NodeLost) and event.sequence < last_step:
            state[event.body.node] = True
    return tuple(name for name, lost in state.items() if lost)


def watch_gaps(history: History) -> tuple[str, ...]:
    """Holes that watches themselves reported, as ``node: watch, why``."""
    rows = history.observations("watch.gap")
    return tuple(f"{row.node}: {row.data.get('watch', 'watch')}, {row.data.get('why', 'not said why')}" for row in rows)
