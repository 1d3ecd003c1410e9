"""When each node was in service, out of service, unobserved, or out of service because of our own injection.

An outage begins with the first sign of a broken part and ends when the node passes its health gate or carries a rank again, not
when it answers. A node whose channel broke is unobserved; only a new boot id says that it was down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chaos.model.events import NodeLost, NodeReached, RunResumed
from chaos.model.folding.alarms import APPLICATION_XIDS, Strength, alarms, strength
from chaos.model.folding.injections import drills, injections
from chaos.model.history import History
from chaos.model.intervals import Spans
from chaos.model.observations import Observation

EXCUSE_SECONDS = 300.0
"""How long after its undo an injected outage may last before the rest counts against the cluster, where no drill set a limit."""


@dataclass(frozen=True, slots=True)
class NodeStates:
    """Spans in seconds on the controller's clock. ``excused``: times when an outage of this node is the drill's own doing."""

    node: str
    down: Spans
    unknown: Spans
    excused: Spans


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is graded: from when every node had been reached to when the record ends."""

    start: float
    end: float

    @property
    def spans(self) -> Spans:
        """The window as a set."""
        return Spans.of([(self.start, self.end)]) if self.end > self.start else Spans()


def window(history: History) -> Window:
    """The graded time of a run. A node that was never reached does not hold up its beginning; it is unknown throughout."""
    first: dict[str, float] = {}
    for _, reached in history.of(NodeReached):
        first.setdefault(reached.node, reached.at)
    if not history.events:
        return Window(0.0, 0.0)
    start = max(first.values(), default=history.events[0].stamp.monotonic)
    return Window(start, max(start, history.events[-1].stamp.monotonic))


def node_states(history: History) -> dict[str, NodeStates]:
    """The states of every node that the run was opened with, spares included."""
    return history.remember("node states", lambda: _node_states(history))


def _node_states(history: History) -> dict[str, NodeStates]:
    opening = history.opening
    names = (*opening.nodes, *opening.spares) if opening else ()
    graded = window(history)
    down = _down(history, graded)
    unknown = _unknown(history, graded)
    excused = _excused(history)
    return {
        name: NodeStates(
            name,
            down.get(name, Spans()).clip(graded.start, graded.end),
            unknown.get(name, graded.spans).clip(graded.start, graded.end) - down.get(name, Spans()),
            Spans.of(excused.get(name, [])),
        )
        for name in names
    }


def _unknown(history: History, graded: Window) -> dict[str, Spans]:
    seen: dict[str, list[tuple[float, float]]] = {}
    since: dict[str, float] = {}
    for event in history.events:
        body = event.body
        if isinstance(body, NodeReached):
            since.setdefault(body.node, body.at)
        elif isinstance(body, NodeLost) and body.node in since:
            seen.setdefault(body.node, []).append((since.pop(body.node), body.at))
    for name, start in since.items():
        seen.setdefault(name, []).append((start, max(start, graded.end)))
    blind = Spans.of((body.unobserved_from, stamp) for body, stamp in _resumed(history) if stamp >= body.unobserved_from)
    return {name: (graded.spans - Spans.of(_ordered(pairs))) | blind for name, pairs in seen.items()}


def _ordered(pairs: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(start, max(start, end)) for start, end in pairs]


def _resumed(history: History) -> list[tuple[RunResumed, float]]:
    return [(event.body, event.stamp.monotonic) for event in history.events if isinstance(event.body, RunResumed)]


def _excused(history: History) -> dict[str, list[tuple[float, float]]]:
    limits = {d.injection.sequence: d.begun.limit_seconds for d in drills(history) if d.injection}
    found: dict[str, list[tuple[float, float]]] = {}
    for injection in injections(history):
        start, undone = injection.earliest_effect, injection.undone
        if start is None:
            continue
        limit = limits.get(injection.sequence, EXCUSE_SECONDS)
        end = (undone.at if undone else start + injection.intended.deadline_seconds) + limit
        found.setdefault(injection.intended.node, []).append((start, max(start, end)))
    return found


def _down(history: History, graded: Window) -> dict[str, Spans]:
    # At one and the same time a cause comes before the sign that it is over; a stable sort keeps that order.
    told: list[tuple[float, str, str, bool]] = [*_from_boots(history), *_from_kernel(history), *_from_observations(history)]
    open_causes: dict[str, dict[str, float]] = {}
    spans: dict[str, list[tuple[float, float]]] = {}
    for at, node, cause, begins in sorted(told, key=lambda entry: entry[0]):
        causes = open_causes.setdefault(node, {})
        if begins:
            causes.setdefault(cause, at)
            continue
        for ended in [name for name in causes if _ends(cause, name)]:
            spans.setdefault(node, []).append((causes.pop(ended), at))
    for node, causes in open_causes.items():
        spans.setdefault(node, []).extend((at, max(at, graded.end)) for at in causes.values())
    return {node: Spans.of(pairs) for node, pairs in spans.items()}


def _ends(sign: str, cause: str) -> bool:
    """The gate vouches for the whole node; a rank that came up for all but a port or device that is still known to be out."""
    return sign in (cause, "gate") or (sign == "rank" and not cause.startswith(("link ", "device ")))


def _from_observations(history: History) -> list[tuple[float, str, str, bool]]:
    told: list[tuple[float, str, str, bool]] = []
    for row in history.observations("link", "accelerator", "gate.in", "gate.out", "rank.up"):
        change = _change(row)
        if change is not None:
            told.append((row.at, row.node, *change))
    return told


def _from_kernel(history: History) -> list[tuple[float, str, str, bool]]:
    hurt = (a for a in alarms(history) if strength(a) is Strength.PART and _is_hardware(a.cause))
    return [(alarm.at, alarm.node, "part", True) for alarm in hurt]


def _is_hardware(cause: str) -> bool:
    if cause.startswith("Xid "):
        return int(cause.split()[1]) not in APPLICATION_XIDS
    return cause.startswith("uncorrectable memory error") or cause in {
        "accelerator lost (kernel log)",
        "uncorrected hardware error (kernel log)",
    }


def _change(row: Observation) -> tuple[str, bool] | None:
    if row.what == "link":
        return f"link {row.data.get('interface', '')}", row.data.get("carrier") == 0
    if row.what == "accelerator":
        lost = row.data.get("lost")
        return (f"device {row.data.get('index')}", lost) if isinstance(lost, bool) else None
    return {"gate.out": ("gate", True), "gate.in": ("gate", False), "rank.up": ("rank", False)}[row.what]


def _from_boots(history: History) -> list[tuple[float, str, str, bool]]:
    boots: dict[str, str] = {}
    lost: dict[str, float] = {}
    told: list[tuple[float, str, str, bool]] = []
    for event in history.events:
        body = event.body
        if isinstance(body, NodeLost):
            lost.setdefault(body.node, body.at)
        elif isinstance(body, NodeReached):
            if boots.get(body.node, body.boot_id) != body.boot_id:
                told.append((lost.get(body.node, body.at), body.node, "boot", True))
            boots[body.node] = body.boot_id
            lost.pop(body.node, None)
    return told
