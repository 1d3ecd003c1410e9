"""What was watched on each node, and where the watching has holes."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.model.events import ClockMeasured, NodeLost, NodeReached, StepDone, WorkloadStarted
from chaos.model.history import History
from chaos.model.observations import Observation

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
    """Holes that could hide something, as ``node: watch, why``.

    A watch that reads a state and answers again has told everything that lasted: see :func:`bridged_gaps`. Lost lines are lost.
    """
    return _gaps(history)[0]


def bridged_gaps(history: History) -> tuple[str, ...]:
    """Holes after which the same watch answered again, with their length."""
    return _gaps(history)[1]


def _gaps(history: History) -> tuple[tuple[str, ...], tuple[str, ...]]:
    silent: dict[tuple[str, str], Observation] = {}
    holes: list[str] = []
    bridged: list[str] = []
    for row in history.observations("watch.gap"):
        key, why = (row.node, str(row.data.get("watch", "watch"))), str(row.data.get("why") or "not said why")
        if why.endswith("answers again"):
            if (begun := silent.pop(key, None)) is not None:
                bridged.append(f"{row.node}: {key[1]}, {row.at - begun.at:.3g} s")
        elif "did not answer" in why:
            silent.setdefault(key, row)
        else:
            holes.append(f"{row.node}: {key[1]}, {why}")
    open_ends = [f"{node}: {watch}, {row.data.get('why')}" for (node, watch), row in silent.items()]
    return (*holes, *open_ends), tuple(bridged)
