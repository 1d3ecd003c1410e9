"""Which injections are still open, read from the record alone."""

from __future__ import annotations

import pytest

from chaos.engine.reverting import open_injections
from chaos.model.events import Event, Stamp
from chaos.model.injections import InjectionIntended, InjectionMoved, InjectionState

STAMP = Stamp("2026-01-01T00:00:00+00:00", 0.0, "boot")


def intended(attempt: int = 1) -> InjectionIntended:
    return InjectionIntended(
        "d1", attempt, "nic.link_down", "NW01", {}, "node1", "disruptive", "real", "ip link", "network", "network", "replace",
        {}, {"acts": [], "keep_going": True}, f"d1-{attempt}", 20.0, 300.0,
    )  # fmt: skip


def events(*bodies) -> tuple[Event, ...]:
    return tuple(Event(number, STAMP, body) for number, body in enumerate(bodies, start=1))


def moved(state: InjectionState, attempt: int = 1) -> InjectionMoved:
    return InjectionMoved("d1", attempt, state, 0.0)


@pytest.mark.parametrize(
    "last", [state for state in InjectionState if state not in (InjectionState.CLEARED, InjectionState.REFUSED)]
)
def test_whatever_is_not_cleared_is_open(last: InjectionState) -> None:
    (found,) = open_injections(events(intended(), moved(last)))
    assert (found.intended.injection, found.last) == ("d1", last)


def test_an_intention_alone_is_open_because_the_act_may_have_happened() -> None:
    (found,) = open_injections(events(intended()))
    assert found.last is InjectionState.INTENDED


def test_a_cleared_attempt_does_not_hide_a_later_one() -> None:
    (found,) = open_injections(events(intended(), moved(InjectionState.CLEARED), intended(2), moved(InjectionState.ARMED, 2)))
    assert found.intended.attempt == 2
