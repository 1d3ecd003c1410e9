"""Whether a record is whole: numbered without a gap, opened, closed, and with every series that it attached.

Evidence that was taken away leaves a gap somewhere. What stands here turns a pass into INCONCLUSIVE.
"""

from __future__ import annotations

from itertools import pairwise

from chaos.model.events import Attached, RunOpened
from chaos.model.history import History


def doubts(history: History) -> tuple[str, ...]:
    """What is not whole about the record, each in a few words; nothing when it is."""
    return history.remember("doubts", lambda: (*_ends(history), *_gaps(history), *_clocks(history), *_series(history)))


def _ends(history: History) -> list[str]:
    found = []
    if not history.events or not isinstance(history.events[0].body, RunOpened):
        found.append("the record has no beginning")
    closing = history.closing
    if closing is None:
        found.append("the run was never closed")
    elif closing.outcome != "finished":
        found.append(f"the run was {closing.outcome}{': ' + closing.why if closing.why else ''}")
    return found


def _gaps(history: History) -> list[str]:
    numbers = [event.sequence for event in history.events]
    holes = [(first, second) for first, second in pairwise(numbers) if second != first + 1]
    return [f"events between {first} and {second} are missing" for first, second in holes[:3]]


def _clocks(history: History) -> list[str]:
    """Times of two boots of the controller lie on two clocks: no duration may be taken across them."""
    boots = {event.stamp.incarnation for event in history.events}
    return [f"the controller was booted {len(boots) - 1} times: its times lie on {len(boots)} clocks"] if len(boots) > 1 else []


def _series(history: History) -> list[str]:
    found = [f"{name} is damaged" for name in history.damaged]
    for _, attached in history.of(Attached):
        rows = len(history.series.get(attached.name, ()))
        if attached.content == "series" and attached.name not in history.damaged and rows != attached.rows:
            found.append(f"{attached.name} holds {rows} rows instead of {attached.rows}")
    return found
