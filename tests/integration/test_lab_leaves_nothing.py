"""A lab leaves the host as it was, also when its supervisor was killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from small_lab import left_on_host, small_lab

from chaos.lab.lifecycle import down, is_up, up

pytestmark = pytest.mark.lab
NOTHING = {"links": [], "mounts": [], "cgroups": [], "files": [], "processes": []}


@pytest.fixture
def lab():
    plan = small_lab("k", nodes=1, spares=0)
    yield plan
    down(plan)


def test_a_lab_whose_supervisor_was_killed_is_taken_down_whole(lab):
    assert left_on_host(lab) == NOTHING
    up(lab)
    there = left_on_host(lab)
    assert all(there[kind] for kind in ("links", "cgroups", "files", "processes")), there
    os.kill(json.loads((Path(lab.state) / "state.json").read_text())["pid"], signal.SIGKILL)

    said = []
    down(lab, tell=said.append)
    down(lab, tell=said.append)

    assert said == [f"lab {lab.name} is down", f"lab {lab.name} was not up"]
    assert not is_up(lab)
    assert left_on_host(lab) == NOTHING


def test_a_lab_that_could_not_come_up_is_taken_down_again(lab, monkeypatch):
    def fails(_node):
        raise KeyboardInterrupt

    monkeypatch.setattr("chaos.lab.lifecycle.wait_for_ssh", fails)
    with pytest.raises(KeyboardInterrupt):
        up(lab)

    assert left_on_host(lab) == NOTHING
