"""A load that runs to its end without anybody touching it."""

from __future__ import annotations

from chaos.engine.loads import Load, start_load
from chaos.engine.session import Session
from chaos.errors import Inconclusive
from chaos.model.events import Measured
from chaos.model.plans import Measure
from chaos.model.quantities import seconds

_AT_LEAST = 120 * seconds


def measure(session: Session, step: Measure, *, fence: int) -> None:
    """Runs the load and books what it measured.

    Raises:
        Inconclusive: it did not end within five times the expected time.
    """
    load = start_load(session, step.workload, fence=fence)
    try:
        ended = load.wait_end(max(5 * step.expected, _AT_LEAST))
    except BaseException as error:
        load.stop("failed", f"{type(error).__name__}: {error}")
        raise
    _book(session, load)
    load.stop("finished" if ended else "failed", "" if ended else "not every rank finished")
    if not ended:
        raise Inconclusive(
            f"measure {step.workload.name}",
            why=f"{len(load.progress.finished)} of {load.launch.expected_ranks} ranks finished; {load.last_words()}",
            todo="look at the job's output on the nodes",
        )


def _book(session: Session, load: Load) -> None:
    if not load.workload.measures:
        return
    rows = load.workload.rows(tuple(load.followed.readings))
    session.ledger.append(
        Measured(
            workload=load.name,
            type=load.spec.kind,
            ranks_proven=_proven(load),
            ranks_expected=load.launch.expected_ranks,
            nodes=load.progress.nodes,
            rows=rows,
            transport=next((str(r.data["transport"]) for r in load.followed.readings if "transport" in r.data), ""),
        )
    )


def _proven(load: Load) -> int:
    """How many ranks took part in a first all-reduce, as the smallest number that any of them proved; 0 when none said so."""
    proven = [int(r.data["proven"]) for r in load.followed.readings if r.what == "rank.communicator" and "proven" in r.data]
    return min(proven, default=0)
