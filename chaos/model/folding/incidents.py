"""One drill out of a running record, so that it can be graded before the run has ended."""

from __future__ import annotations

from dataclasses import replace

from chaos.model.events import Body, DrillBegun, DrillEnded, InjectionIntended, InjectionMoved, Noted, RunClosed, RunOpened
from chaos.model.history import History


def incident(history: History, drill: str) -> History:
    """The record as if the run had held this drill only and had been closed now.

    Other drills and their injections become notes, so that no number is missing; steps and observations stay as they are.
    """
    others = {body.drill for _, body in history.of(DrillBegun)} - {drill}
    events = [replace(event, body=_only(event.body, others, drill)) for event in history.events]
    if events and history.closing is None:
        last = events[-1]
        events.append(replace(last, sequence=last.sequence + 1, body=RunClosed("finished", f"as far as {drill} is concerned")))
    return History(tuple(events), history.series, history.damaged)


def _only(body: Body, others: set[str], drill: str) -> Body:
    if isinstance(body, RunOpened):
        return replace(body, plan={"steps": [{"strikes": [{"id": drill}]}]})
    if isinstance(body, DrillBegun | DrillEnded) and body.drill in others:
        return Noted(body.drill, f"{body.kind} of another drill")
    if isinstance(body, InjectionIntended | InjectionMoved) and body.injection in others:
        return Noted(body.injection, f"{body.kind} of another drill")
    return body
