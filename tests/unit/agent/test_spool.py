"""What was seen stays until it was acknowledged, also past a kill; what had to go is said to be gone."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos.agent.homes import Home
from chaos.agent.spool import Spool


@contextmanager
def opened(path, most=1000):
    spool = Spool(Home(str(path)), most)
    try:
        yield spool
    finally:
        spool.close()


def numbers(spool):
    return [event["sequence"] for event in spool.after(0, 0.0)]


def test_events_come_in_order_with_numbers_without_a_gap(tmp_path):
    with opened(tmp_path) as spool:
        for index in range(5):
            spool.add("link", {"n": index})

        assert [(event["sequence"], event["body"]["n"]) for event in spool.after(2, 0.0)] == [(3, 2), (4, 3), (5, 4)]


def test_a_later_daemon_goes_on_after_what_was_acknowledged(tmp_path):
    with opened(tmp_path) as spool:
        for _ in range(4):
            spool.add("link", {})
        spool.acknowledge(2)
    with opened(tmp_path) as spool:
        spool.add("link", {})

        assert (spool.first, numbers(spool)) == (3, [3, 4, 5])


def test_numbers_go_on_when_everything_was_acknowledged(tmp_path):
    with opened(tmp_path) as spool:
        spool.add("link", {})
        spool.acknowledge(1)
    for _ in range(2):
        with opened(tmp_path) as spool:
            assert (spool.first, numbers(spool)) == (2, [])


def test_a_torn_line_costs_that_event_alone(tmp_path):
    with opened(tmp_path) as spool:
        spool.add("link", {"n": 1})
        spool.add("link", {"n": 2})
    content = (tmp_path / "spool").read_bytes()
    (tmp_path / "spool").write_bytes(content[:-7])
    with opened(tmp_path) as spool:
        spool.add("link", {"n": 3})
    with opened(tmp_path) as spool:
        assert [event["body"]["n"] for event in spool.after(0, 0.0)] == [1, 3]


@pytest.mark.parametrize("line", [b"7\n", b"[]\n", b"{}\n", b'{"ack": null}\n', b"\xff\n", b"\n"])
def test_a_strange_line_is_passed_over(tmp_path, line):
    with opened(tmp_path) as spool:
        spool.add("link", {})
    with (tmp_path / "spool").open("ab") as file:
        file.write(line)
    with opened(tmp_path) as spool:
        assert numbers(spool) == [1]


def test_an_overflow_drops_the_oldest_and_is_said_when_there_is_room_again(tmp_path):
    with opened(tmp_path, most=5) as spool:
        for index in range(12):
            spool.add("link", {"n": index})
        assert numbers(spool) == [8, 9, 10, 11, 12]
        spool.acknowledge(10)
        spool.add("link", {"n": 12})

        gap, last = spool.after(12, 0.0)
        assert (gap["kind"], gap["body"]["lost"]) == ("watch.gap", 7)
        assert (last["sequence"], last["body"]) == (14, {"n": 12})


def test_the_file_stays_bounded_however_long_nobody_listens(tmp_path):
    with opened(tmp_path, most=50) as spool:
        for index in range(5000):
            spool.add("link", {"n": index})
        lines = (tmp_path / "spool").read_bytes().count(b"\n")

    assert lines < 2000
    with opened(tmp_path, most=50) as spool:
        assert numbers(spool) == list(range(4951, 5001))


def test_the_file_stays_bounded_while_every_event_is_acknowledged(tmp_path):
    with opened(tmp_path) as spool:
        spool.add("link", {})
        for number in range(1, 3000):
            spool.add("link", {})
            spool.acknowledge(number)

        assert (tmp_path / "spool").read_bytes().count(b"\n") < 2000
        assert numbers(spool) == [3000]


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.sampled_from(["add", "add", "ack", "kill"]), max_size=30))
def test_a_listener_that_keeps_its_place_misses_nothing(tmp_path_factory, steps):
    place, heard, added = tmp_path_factory.mktemp("spool"), 0, 0
    spool = Spool(Home(str(place)))
    for step in steps:
        if step == "add":
            added += 1
            spool.add("link", {"n": added})
        elif step == "ack":
            got = [event["sequence"] for event in spool.after(heard, 0.0)]
            assert got == list(range(heard + 1, added + 1))
            heard = added
            spool.acknowledge(heard)
        else:
            spool.close()
            spool = Spool(Home(str(place)))
    spool.close()


def test_a_full_disk_loses_no_event_of_this_daemon(tmp_path):
    with opened(tmp_path) as spool:
        spool.close()
        spool._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115 - the spool closes it
        spool.add("link", {})

        assert numbers(spool) == [1]
