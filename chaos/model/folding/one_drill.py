"""A history as if one drill had been all that was done: what a test asks about is its own drill, not those before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from chaos.model.events import Attached, Body, Event, Noted, Observed, RunClosed, RunOpened, Stamp
from chaos.model.history import History
from chaos.model.injections import ControlSeen, DrillBegun, DrillEnded, InjectionIntended, InjectionMoved


def only_drill(history: History, drill: str) -> History:
    """The history up to the drill after this one, with a remark in the place of every event that is about another drill or later.

    Event numbers stay, so that evidence can be looked up in the record. Attached series stay as far as they tell of that time, since
    they may be sealed later. The view of a drill that came to its end is closed: what it shows is whole while its run still goes on.
    The view of one that did not stays open.
    """
    last, until = _next(history, drill)
    series = {name: tuple(row for row in rows if row.at < until) for name, rows in history.series.items()}
    events = [
        replace(event, stamp=_not_after(event.stamp, until), body=_seen(event, drill, last, series)) for event in history.events
    ]
    if _has_ended(history, drill):
        events.append(Event(events[-1].sequence + 1, events[-1].stamp, RunClosed("finished", f"a view of {drill}")))
    return History(tuple(events), series, history.damaged)


def _not_after(stamp: Stamp, until: float) -> Stamp:
    """The view ends where the next drill begins; silence after that is nobody's."""
    return replace(stamp, monotonic=min(stamp.monotonic, until))


def _begun(history: History, drill: str) -> int:
    """The number of the event that began the drill the last time; 0 when none did."""
    return max((sequence for sequence, body in history.of(DrillBegun) if body.drill == drill), default=0)


def _has_ended(history: History, drill: str) -> bool:
    begun = _begun(history, drill)
    return any(body.drill == drill and sequence > begun > 0 for sequence, body in history.of(DrillEnded))


def _next(history: History, drill: str) -> tuple[float, float]:
    """Where the next drill begins: its event number and its time, in seconds on the controller's clock."""
    begun = _begun(history, drill)
    following = [(sequence, body.at) for sequence, body in history.of(DrillBegun) if sequence > begun > 0]
    return min(following, default=(inf, inf))


def _seen(event: Event, drill: str, last: float, series: Mapping[str, tuple[Observed, ...]]) -> Body:
    body = event.body
    if isinstance(body, Attached):
        return replace(body, rows=len(series[body.name])) if body.name in series and last < inf else body
    if event.sequence >= last:
        return Noted(drill, "afterwards")
    if isinstance(body, RunOpened):
        return replace(body, plan=_plan_of(body.plan, drill))
    if isinstance(body, DrillBegun | DrillEnded) and body.drill != drill:
        return Noted(body.drill, "another drill")
    if isinstance(body, InjectionIntended | InjectionMoved | ControlSeen) and body.injection != drill:
        return Noted(body.injection, "another drill")
    return body


def _plan_of(plan: Any, drill: str) -> dict[str, Any]:
    steps = [dict(step) for step in plan.get("steps", ())]
    for step in steps:
        if "strikes" in step:
            step["strikes"] = [strike for strike in step["strikes"] if strike.get("id") == drill]
    return {**plan, "steps": steps}
