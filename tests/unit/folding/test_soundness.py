"""A record is whole, or what is missing has a name."""

from dataclasses import replace

import pytest

from chaos.criteria.canaries.quick_run import GOOD_DRILLS, quick_run
from chaos.model.events import RunClosed
from chaos.model.folding.soundness import doubts
from chaos.model.history import History

WHOLE = quick_run(GOOD_DRILLS[:1])


def test_a_whole_record_raises_no_doubt():
    assert doubts(WHOLE) == ()


def rebooted(events):
    return tuple(replace(e, stamp=replace(e.stamp, incarnation="another")) if e.sequence > 20 else e for e in events)


@pytest.mark.parametrize(
    ("events", "doubt"),
    [
        ((), "no beginning"),
        (WHOLE.events[1:], "no beginning"),
        (WHOLE.events[:-1], "never closed"),
        (WHOLE.events[:10] + WHOLE.events[12:], "between 10 and 13 are missing"),
        (rebooted(WHOLE.events), "booted 1 times"),
        ((*WHOLE.events[:-1], replace(WHOLE.events[-1], body=RunClosed("aborted", "disk full"))), "was aborted: disk full"),
    ],
    ids=["empty", "no head", "no tail", "a hole", "two clocks", "aborted"],
)
def test_what_is_not_whole_is_named(events, doubt):
    assert doubt in "; ".join(doubts(History(events, WHOLE.series)))


def test_series_are_whole_damaged_or_short():
    name = "series/training.jsonl"

    assert f"{name} is damaged" in doubts(History(WHOLE.events, {**WHOLE.series, name: ()}, (name,)))
    assert any(name in doubt for doubt in doubts(History(WHOLE.events, {**WHOLE.series, name: WHOLE.series[name][1:]})))
    assert any(name in doubt for doubt in doubts(History(WHOLE.events, {})))
