"""A training job on this machine's loopback: ranks are killed, checkpoints damaged, a node lost, and the job goes on as if nothing was."""

from __future__ import annotations

import importlib.util
import signal
from pathlib import Path
from typing import Any

import pytest

from chaos.launchers.elastic import Elastic
from chaos.model.quantities import milliseconds, seconds
from chaos.workloads.training import Training

_SPEC = importlib.util.spec_from_file_location("local_nodes", Path(__file__).with_name("local_nodes.py"))
local_nodes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(local_nodes)

pytestmark = pytest.mark.torch

STEPS = 60


def checkpoints(nodes, step: int) -> str:
    """Waits for the checkpoint of a step; its path."""
    saved = nodes.wait(lambda: [e for e in nodes.events("rank.saved") if e["data"]["step"] >= step], 60, f"no checkpoint {step}")
    return saved[-1]["data"]["path"]


class Drilled:
    """What was done to the job, when, and all that it said."""

    def __init__(self, folder: Path) -> None:
        shared = folder / "shared"
        cluster = local_nodes.loopback_cluster(shared, compute=2, spares=1, ranks=2)
        workload = Training(steps=STEPS, checkpoint_interval=10, pace=60 * milliseconds)
        with local_nodes.LocalNodes(folder) as nodes:
            nodes.start(Elastic().launch(workload, "training", cluster))
            checkpoints(nodes, 10)
            self.killed_on = nodes.rank(3)["node"]
            self.killed_at = local_nodes.kill(nodes.rank(3)["data"]["pid"])
            self.damaged = checkpoints(nodes, 20)
            Path(self.damaged).write_bytes(Path(self.damaged).read_bytes()[:1000])
            self.second_kill_at = local_nodes.kill(nodes.rank(2)["data"]["pid"])
            checkpoints(nodes, 40)
            self.lost_node = nodes.rank(3)["node"]
            self.lost_at = nodes.lose(self.lost_node)
            nodes.finish(60)
            self.events = nodes.events()

    def after(self, at: float, what: str) -> list[dict[str, Any]]:
        """The events of a kind from a moment on."""
        return [event for event in self.events if event["what"] == what and event["at"] > at]


@pytest.fixture(scope="module")
def drilled(tmp_path_factory) -> Drilled:
    return Drilled(tmp_path_factory.mktemp("drilled"))


@pytest.fixture(scope="module")
def quiet_events(tmp_path_factory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    cluster = local_nodes.loopback_cluster(folder / "shared", compute=2, spares=1, ranks=2)
    with local_nodes.LocalNodes(folder) as nodes:
        nodes.start(Elastic().launch(Training(steps=STEPS, pace=60 * milliseconds), "reference", cluster))
        nodes.finish(60)
        return nodes.events()


@pytest.fixture(scope="module")
def undisturbed(quiet_events) -> dict[int, set[str]]:
    return local_nodes.losses(quiet_events)


def test_a_spare_that_is_not_needed_disturbs_nobody_and_ends_well_with_the_job(quiet_events):
    rounds = {event["data"]["round"] for event in quiet_events if event["what"] == "rendezvous.done"}
    endings = [(event["node"], event["data"]["exit_status"]) for event in quiet_events if event["what"] == "elastic.ended"]

    assert rounds == {0}
    assert sorted(endings) == [("node1", 0), ("node2", 0), ("spare1", 0)]


def test_every_loss_equals_that_of_an_undisturbed_run_bit_for_bit(drilled, undisturbed):
    assert sorted(undisturbed) == list(range(1, STEPS + 1))
    assert local_nodes.losses(drilled.events) == undisturbed


def test_the_loss_falls(undisturbed):
    first, last = (float.fromhex(next(iter(undisturbed[step]))) for step in (1, STEPS))

    assert last < 0.8 * first


def test_a_killed_rank_is_told_and_named(drilled):
    ended = [e for e in drilled.after(drilled.killed_at, "worker.ended") if e["at"] < drilled.second_kill_at]

    assert [(e["node"], e["data"]["local_rank"]) for e in ended if e["data"]["signal"] == "SIGKILL"] == [(drilled.killed_on, 1)]


def test_after_a_killed_rank_all_come_back_in_the_order_of_a_recovery(drilled):
    (number,) = {
        e["data"]["round"] for e in drilled.after(drilled.killed_at, "rendezvous.done") if e["at"] < drilled.second_kill_at
    }
    marks = ["rendezvous.done", "rank.up", "rank.communicator", "rank.loaded", "rank.step"]
    firsts = [next(e["at"] for e in drilled.events if e["what"] == mark and e["data"]["round"] == number) for mark in marks]

    assert firsts == sorted(firsts)
    assert firsts[-1] - drilled.killed_at < 30


def test_every_rank_proves_a_first_collective_of_the_whole_world(drilled):
    assert {e["data"]["proven"] for e in drilled.after(0.0, "rank.communicator")} == {4}


def test_members_that_restart_keep_their_places_before_a_spare(drilled):
    rejoined = [e for e in drilled.after(drilled.killed_at, "rendezvous.done") if e["at"] < drilled.lost_at]

    assert {e["node"] for e in rejoined} == {"node1", "node2"}


def test_a_damaged_checkpoint_is_passed_over_by_every_rank_and_named(drilled):
    loaded = [e["data"] for e in drilled.after(drilled.second_kill_at, "rank.loaded") if e["at"] < drilled.lost_at]

    assert [data["skipped"] for data in loaded] == [[drilled.damaged]] * 4
    assert {data["step"] for data in loaded} == {10}


def test_a_spare_takes_the_place_of_a_lost_node(drilled):
    members = {e["node"] for e in drilled.after(drilled.lost_at, "rendezvous.done")}

    assert members == {"node1", "node2", "spare1"} - {drilled.lost_node}


def test_a_frozen_rank_is_replaced_long_before_torch_would_give_up_on_it(tmp_path):
    cluster = local_nodes.loopback_cluster(tmp_path / "shared", compute=2, ranks=1)
    with local_nodes.LocalNodes(tmp_path) as nodes:
        nodes.start(Elastic().launch(Training(pace=50 * milliseconds, patience=2 * seconds), "training", cluster))
        nodes.step(5, 60)
        frozen_at = local_nodes.kill(nodes.rank(1)["data"]["pid"], signal.SIGSTOP)
        nodes.wait(lambda: nodes.events("rank.up")[-1]["at"] > frozen_at, 30, "no new rank")
        step = nodes.events("rank.loaded")[-1]["data"]["step"]
        nodes.step(step + 1, 30)
