"""Live progress of a load, folded from what its ranks say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaos.engine.progress import Progress
from chaos.model.events import Observed


def seen(what: str, node: str = "node1", at: float = 0.0, **data: object) -> Observed:
    return Observed(node, what, at, 0.0, data, "training")


def up(progress: Progress, number: int, *nodes: str) -> None:
    for rank, node in enumerate(nodes):
        progress.feed(seen("rank.up", node, rank=rank, local_rank=0, pid=100 + rank, started=7, round=number))


def test_a_step_counts_when_every_rank_has_ended_it() -> None:
    progress = Progress(2)
    up(progress, 0, "node1", "node2")
    progress.feed(seen("rank.step", "node1", 1.0, rank=0, step=1))
    assert progress.highest_step == 0
    progress.feed(seen("rank.step", "node2", 1.2, rank=1, step=1))
    assert [(mark.step, mark.at) for mark in progress.steps] == [(1, 1.2)]


def test_steps_of_an_older_round_are_not_mistaken_for_recovery() -> None:
    progress = Progress(2)
    up(progress, 0, "node1", "node2")
    progress.feed(seen("rank.step", "node1", 1.0, rank=0, step=1))
    up(progress, 1, "node1", "node3")
    progress.feed(seen("rank.step", "node3", 2.0, rank=1, step=1))
    assert progress.steps == []
    progress.feed(seen("rank.step", "node1", 2.1, rank=0, step=1))
    assert [mark.round for mark in progress.steps_since(1.5, round_after=0)] == [1]


def test_a_node_that_was_replaced_holds_no_rank_and_stands_by_when_its_agent_is_ready_again() -> None:
    progress = Progress(2)
    for node in ("node1", "node2", "spare1"):
        progress.feed(seen("elastic.started", node))
    up(progress, 0, "node1", "node2")
    assert progress.spares == ("spare1",)
    progress.feed(seen("gate.out", "node2", reasons=["link down"]))
    up(progress, 1, "node1", "spare1")
    assert (progress.nodes, progress.spares) == (("node1", "spare1"), ())
    progress.feed(seen("gate.in", "node2"))
    progress.feed(seen("elastic.started", "node2"))
    assert progress.spares == ("node2",)


@given(
    st.sampled_from(["rank.up", "rank.step", "rank.saved", "rank.finished", "rank.failed", "gate.out"]),
    st.dictionaries(st.text(), st.none() | st.text() | st.floats()),
)
def test_malformed_words_of_a_node_never_stop_the_loop(what: str, data: dict[str, object]) -> None:
    progress = Progress(2)
    progress.feed(Observed("node1", what, 0.0, 0.0, data))
    assert progress.steps == []
