"""The public InfiniteHBD trace: 348 days of faults of real GPU servers, as a list of starts and ends.

Rows are ``{"node_id", "event_time" (days), "event_type": "fault_start" | "fault_end", "fault_type": {"Level", "Class", "Desc"}}``.
The trace names only nodes that ever had a fault, so the number of nodes is not in it: it has to be given. Counting only the nodes that
occur makes a cluster look worse than it is, and leaves its best nodes out of the best-nodes count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chaos.errors import UsageError
from chaos.model.intervals import Spans

PLANNED = frozenset({"Change", "Test", "Stress Test Failure", "Training Task Troubleshooting"})
"""Classes of ``fault_type`` that people brought about on purpose."""

_STARTS = {"fault_start": True, "fault_end": False}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one node, in days since the trace's zero; ``end`` is infinite where the trace does not tell it."""

    node: str
    start: float
    end: float
    level: str
    group: str
    description: str

    @property
    def is_planned(self) -> bool:
        """Whether people brought it about."""
        return self.group in PLANNED

    @property
    def days(self) -> float:
        """How long it lasted."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Trace:
    """All faults, sorted by their start."""

    faults: tuple[Fault, ...]

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that occur. There are more: see the module."""
        return frozenset(fault.node for fault in self.faults)

    @property
    def end(self) -> float:
        """The day of the last event whose time is told."""
        return max((f.end if f.end != float("inf") else f.start for f in self.faults), default=0.0)

    def unplanned(self) -> Trace:
        """The trace without the faults that people brought about."""
        return Trace(tuple(fault for fault in self.faults if not fault.is_planned))


def looks_like_trace(text: str) -> bool:
    """Whether a file begins as this trace does."""
    head = text[:2000].lstrip()
    return head.startswith("[") and '"node_id"' in head and '"event_type"' in head


def read_trace(text: str) -> Trace:
    """The trace in this text.

    Raises:
        UsageError: the text is not such a trace, is out of order, or holds an end without a start.
    """
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise _not_a_trace(f"not JSON: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise _not_a_trace("no list of events")
    open_faults: dict[tuple[str, str, str, str], list[float]] = {}
    found: list[Fault] = []
    last = float("-inf")
    for number, row in enumerate(rows, start=1):
        at, is_start, key = _event(number, row)
        if at < last:
            raise _not_a_trace(f"event {number} is earlier than the one before: the trace is not in the order of time")
        last = at
        if is_start:
            open_faults.setdefault(key, []).append(at)
        elif not open_faults.get(key):
            raise _not_a_trace(f"event {number} ends a fault of {key[0]} that never began")
        else:
            found.append(Fault(key[0], open_faults[key].pop(0), at, *key[1:]))
    for key, starts in open_faults.items():
        found += [Fault(key[0], start, float("inf"), *key[1:]) for start in starts]
    return Trace(tuple(sorted(found, key=lambda fault: (fault.start, fault.end, fault.node))))


def _event(number: int, row: Any) -> tuple[float, bool, tuple[str, str, str, str]]:
    try:
        fault: Mapping[str, Any] = row["fault_type"]
        key = (str(row["node_id"]), str(fault["Level"]), str(fault["Class"]), str(fault["Desc"]))
        at = row["event_time"]
        if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < float("inf"):
            raise _not_a_trace(f"event {number} has the time {at!r}")
        return float(at), _STARTS[row["event_type"]], key
    except (KeyError, TypeError) as error:
        raise _not_a_trace(f"event {number} lacks or misspells {error}") from error


def _not_a_trace(why: str) -> UsageError:
    return UsageError("read the fault trace", why=why, todo="give a fault_trace.json of the InfiniteHBD trace, unchanged")


@dataclass(frozen=True, slots=True)
class Period:
    """What a trace says about one span of days over a number of nodes. Times are in days; an availability is a share of node time."""

    start: float
    end: float
    nodes: int
    down: float
    naive_down: float
    incidents: int
    faults_begun: int
    clean_nodes: int

    @property
    def availability(self) -> float:
        """Healthy node time over all node time (A_node: no spare ends an outage here)."""
        return 1 - self.down / (self.nodes * (self.end - self.start))


def down_spans(trace: Trace) -> dict[str, Spans]:
    """When each node was out of service: the union of its faults, so that overlapping ones count once."""
    by_node: dict[str, list[tuple[float, float]]] = {}
    for fault in trace.faults:
        by_node.setdefault(fault.node, []).append((fault.start, fault.end))
    return {node: Spans.of(pairs) for node, pairs in by_node.items()}


def period(trace: Trace, nodes: int, start: float, end: float) -> Period:
    """The answers over a span of days.

    Raises:
        UsageError: the number of nodes cannot be right, or the span is empty.
    """
    check_nodes(trace, nodes)
    if not start < end:
        raise UsageError("grade the trace", why=f"from day {start:g} to day {end:g} there is no time")
    spans = {node: whole.clip(start, end) for node, whole in down_spans(trace).items()}
    within = [fault for fault in trace.faults if fault.start < end and fault.end >= start]
    return Period(
        start=start,
        end=end,
        nodes=nodes,
        down=sum(clipped.total for clipped in spans.values()),
        naive_down=sum(max(0.0, min(f.end, end) - max(f.start, start)) for f in within),
        incidents=sum(len(clipped) for clipped in spans.values()),
        faults_begun=sum(1 for fault in trace.faults if start <= fault.start < end),
        clean_nodes=nodes - sum(1 for clipped in spans.values() if clipped.total > 0),
    )


def check_nodes(trace: Trace, nodes: int) -> None:
    """Refuses a number of nodes that cannot be right.

    Raises:
        UsageError: there are fewer nodes than the trace names.
    """
    if nodes < len(trace.nodes):
        raise UsageError(
            "grade the trace",
            why=f"it names {len(trace.nodes)} nodes, and {nodes} were given",
            todo="give the number of all nodes of the cluster, those without a fault included",
        )


def windows(trace: Trace, nodes: int, end: float, *, days: float = 30.0, step: float = 1.0) -> tuple[Period, ...]:
    """Every window of so many days that begins on a whole step and lies within the trace."""
    number = int((end - days) // step) + 1
    return tuple(period(trace, nodes, index * step, index * step + days) for index in range(max(0, number)))


def nodes_at_least(trace: Trace, nodes: int, start: float, end: float, share: float) -> int:
    """How many nodes were in service for at least this share of the time; those that never occur were in service throughout."""
    check_nodes(trace, nodes)
    allowed = (1 - share) * (end - start)
    below = sum(1 for spans in down_spans(trace).values() if spans.clip(start, end).total > allowed)
    return nodes - below


def brief(faults: Iterable[Fault], *, at_most_days: float) -> int:
    """How many faults lasted no longer than this."""
    return sum(1 for fault in faults if fault.days <= at_most_days + 1e-9)
