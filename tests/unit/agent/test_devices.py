"""Accelerators are looked at through a driver that may hang: that is a gap, and holds up nobody."""

from __future__ import annotations

import time

import pytest
from told import Told, gaps

from chaos.agent import nvml
from chaos.agent.homes import Home
from chaos.agent.watches import Devices


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def home(tmp_path):
    return Home(str(tmp_path / "home"))


class Driver:
    """Stands in for the child that asks NVML: answers when told to."""

    asked_at = 0.0

    def __init__(self, answers):
        self.answers = answers
        self.is_closed = False

    def ask(self):
        self.asked_at = time.monotonic()
        return True

    def answer(self, patience=0.0):
        return self.answers.pop(0)

    def close(self):
        self.is_closed = True


def device(**fields):
    return {"index": 0, "lost": False, "ecc_corrected": 0, "ecc_uncorrected": 0, "temperature": 36, **fields}


def test_devices_are_told_when_they_change_and_their_temperature_by_five_degrees(home, told, monkeypatch):
    seen = [device(), device(temperature=39), device(temperature=41), device(ecc_uncorrected=1), device(lost=True)]
    monkeypatch.setattr(nvml, "Reader", lambda: Driver([{"devices": [each]} for each in seen]))
    watch = Devices("accelerators", {}, 0.2, home, told)
    for _ in seen:
        watch.look()

    assert told == [("accelerator", seen[index]) for index in (0, 2, 3, 4)]


def test_a_driver_that_hangs_is_left_behind_and_said_so_once(home, told, monkeypatch):
    drivers = [Driver([None] * 9)]
    monkeypatch.setattr(nvml, "Reader", lambda: drivers[0])
    monkeypatch.setattr(Devices, "PATIENCE", 0.0)
    watch = Devices("accelerators", {}, 0.2, home, told)
    watch.look()
    watch.look()
    drivers[0].answers = [{"devices": []}]
    watch.look()

    assert drivers[0].is_closed
    assert [gap["why"] for gap in gaps(told)] == ["NVML did not answer within 0 s", "NVML answers again"]
