"""The other loads under the same launcher: an all-reduce sweep, and a command of the user's."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from chaos.launchers.elastic import Elastic
from chaos.workloads.all_reduce import AllReduce
from chaos.workloads.command import Command

_SPEC = importlib.util.spec_from_file_location("local_nodes", Path(__file__).with_name("local_nodes.py"))
local_nodes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(local_nodes)

pytestmark = pytest.mark.torch

PRINTS = "import os\nfor step in (1, 2):\n    print('step', step, 'loss 0.5 rank', os.environ['RANK'], flush=True)"


def readings(workload, folder: Path):
    """All that a load says when it runs to its end on two nodes."""
    cluster = local_nodes.loopback_cluster(folder / "shared", compute=2, ranks=1)
    with local_nodes.LocalNodes(folder) as nodes:
        nodes.start(Elastic().launch(workload, "load", cluster))
        nodes.finish(60)
        return [reading for event in nodes.events() if (reading := workload.read(json.dumps(event))) is not None]


def test_an_all_reduce_is_exact_on_every_element_and_timed_in_every_iteration(tmp_path):
    workload = AllReduce(sizes=(4_096, 65_536), iterations=10)

    rows = workload.rows(tuple(readings(workload, tmp_path)))

    assert [(row["size_bytes"], row["iterations"], row["ranks"], row["wrong"]) for row in rows] == [
        (4_096, 10, 2, 0),
        (65_536, 10, 2, 0),
    ]
    assert all(row["busbw_gbps"] == pytest.approx(row["algbw_gbps"]) for row in rows)  # 2 (n - 1) / n is 1 for two ranks


def test_the_lines_of_a_command_are_read_as_steps_of_its_ranks(tmp_path):
    workload = Command(argv=(sys.executable, "-c", PRINTS), pattern=r"step (?P<step>\d+) loss (?P<loss>\S+)")

    told = readings(workload, tmp_path)

    steps = sorted((r.data["rank"], r.data["step"], r.data["loss"]) for r in told if r.what == "rank.step")
    assert steps == [(rank, step, (0.5).hex()) for rank in (0, 1) for step in (1, 2)]
    assert sorted(r.data["rank"] for r in told if r.what == "rank.finished") == [0, 1]
