"""Availability in four readings."""

from dataclasses import replace

import pytest

from chaos.criteria.canaries.drill_script import spreading
from chaos.criteria.canaries.long_run import long_run
from chaos.criteria.canaries.quick_run import NODES, quick_run, with_drill
from chaos.criteria.canaries.recorder import Recorder
from chaos.model.events import NodeLost, NodeReached, RunClosed, RunOpened, RunResumed
from chaos.model.folding.interruptions import tasks
from chaos.model.folding.slots import service
from chaos.model.history import History


def a_day(*, spares=(), tell=lambda _recorder: None):
    """A day with four slots in which ``tell`` writes what happens."""
    opened = next(body for _, body in long_run(1).of(RunOpened))
    recorder = Recorder(at=0.0)
    recorder.write(replace(opened, spares=spares))
    for node in (*NODES, *spares):
        recorder.write(NodeReached(node, 0.0, f"boot-{node}"))
    tell(recorder)
    recorder.at = 86_400.0
    recorder.write(RunClosed("finished"))
    return recorder.history()


def link(recorder, at, carrier):
    recorder.at = at
    recorder.see("node2", "link", {"interface": "rdma0", "carrier": carrier})


def test_a_quiet_day_is_fully_available():
    seen = service(a_day())

    assert (seen.capacity.low, seen.capacity.high, seen.capacity.total) == (1.0, 1.0, 4 * 86_400)


def test_a_slot_is_out_from_the_first_sign_to_the_gate():
    def tell(recorder):
        link(recorder, 1000.0, 0)
        link(recorder, 1864.0, 1)

    seen = service(a_day(tell=tell))

    assert seen.capacity.down == 864
    assert seen.capacity.low == seen.capacity.high == pytest.approx(1 - 0.01 / 4)
    assert seen.outages == (("node2", 1000.0, 1864.0),)
    assert seen.enough_nodes.down == 864


def test_a_spare_that_comes_up_in_its_place_ends_the_outage_of_the_slot_but_not_of_the_node():
    def tell(recorder):
        link(recorder, 1000.0, 0)
        recorder.at = 1300.0
        for rank, node in enumerate(("node1", "spare1", "node3", "node4")):
            data = {"rank": rank, "local_rank": 0, "world": 4, "round": 1, "pid": rank, "started": 1}
            recorder.see(node, "rank.up", data, workload="training")

    history = a_day(spares=("spare1",), tell=lambda r: (_start(r), tell(r)))
    seen = service(history)

    assert seen.capacity.down == 300
    assert seen.node.down == 86_400 - 1000
    assert seen.enough_nodes.down == 0


def _start(recorder):
    started = next(event.body for event in long_run(1).events if getattr(event.body, "kind", "") == "workload.started")
    recorder.write(started)


def test_unobserved_time_makes_the_result_an_interval():
    def tell(recorder):
        recorder.at = 1000.0
        recorder.write(NodeLost("node2", 1000.0, "reset"))
        recorder.at = 1864.0
        recorder.write(NodeReached("node2", 1864.0, "boot-node2"))

    capacity = service(a_day(tell=tell)).capacity

    assert (capacity.down, capacity.unknown) == (0, 864)
    assert (capacity.low, capacity.high, capacity.point) == (pytest.approx(1 - 0.01 / 4), 1.0, 1.0)


def test_a_new_boot_says_that_the_node_was_down_and_not_only_unobserved():
    def tell(recorder):
        recorder.at = 1000.0
        recorder.write(NodeLost("node2", 1000.0, "reset"))
        recorder.at = 1864.0
        recorder.write(NodeReached("node2", 1864.0, "another boot"))
        recorder.see("node2", "gate.in", {})

    assert service(a_day(tell=tell)).capacity.down == 864


def test_a_flap_within_one_tick_is_over():
    def tell(recorder):
        link(recorder, 1000.0, 0)
        link(recorder, 1000.0, 1)

    assert service(a_day(tell=tell)).capacity.down == 0


def test_while_the_harness_was_away_nothing_was_observed():
    def tell(recorder):
        recorder.at = 5000.0
        recorder.write(RunResumed(4000.0))

    assert service(a_day(tell=tell)).capacity.unknown == 4 * 1000


def test_what_a_drill_did_to_its_target_leaves_both_sides():
    seen = service(quick_run())

    assert seen.outages == ()
    assert seen.removed > 1
    assert seen.capacity.down == 0


def test_what_a_drill_did_elsewhere_counts_against_the_cluster():
    seen = service(with_drill("nic.link_down", signs=spreading))

    assert {node for node, _, _ in seen.outages} == {"node1"}


def test_nothing_was_watched_in_an_empty_record():
    assert service(History(())).capacity.total == 0


def test_injected_and_natural_interruptions_are_told_apart():
    (drilled, reference) = sorted(tasks(quick_run()), key=lambda task: task.workload, reverse=True)

    assert (drilled.natural, drilled.unrecovered) == ((), ())
    assert drilled.injected >= 9
    assert (reference.injected, reference.natural) == (0, ())
    assert len(tasks(long_run(10, outage_after=5, outage=120.0))[0].natural) == 1
