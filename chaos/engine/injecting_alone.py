"""One fault without a drill: for a person at the keyboard who watches the cluster herself."""

from __future__ import annotations

from chaos.engine.answers import json_of
from chaos.engine.injecting import Injection, intend
from chaos.engine.returning import reach_again
from chaos.engine.session import Session
from chaos.errors import ChaosError, Unsupported
from chaos.model.acts import Consult
from chaos.model.events import InjectionIntended, Noted
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.fault import Fault, RankProcess, Target


def target_on(session: Session, node: Node, injection: str, *, pid: int | None = None) -> Target:
    """A node as a target. With ``pid`` that process plays the rank, identified by its start time from now on.

    Raises:
        Unsupported: there is no such process.
    """
    peers = tuple(port.address for other in session.cluster if other.name != node.name for port in other.training[:1])
    ranks = () if pid is None else (_process(session, node, pid),)
    return Target(node, session.platform(node), ranks, peers, injection=injection)


def hold_fault(session: Session, fault: Fault, target: Target, hold: Duration) -> None:
    """Injects, holds and undoes one fault with all its proofs.

    Raises:
        ChaosError: what went wrong; the fault has been undone.
    """
    attempt = 1 + sum(1 for event in session.ledger.events if isinstance(event.body, InjectionIntended))
    injection = intend(
        session, fault, target, injection=target.injection, attempt=attempt, deadline=hold + 60 * seconds, workload=""
    )
    try:
        injection.arm()
        session.tell(f"armed: the node undoes it by itself {injection.armed.guard.lease} after it last heard from here")
        injection.apply()
        injection.prove()
        session.tell(f"{fault} took effect on {target.node.name}; held for {hold}, Ctrl-C undoes it now")
        session.pump(hold)
    except BaseException as error:
        _abandon(session, injection, error)
        raise
    injection.undo()
    if fault.is_out_of_band:
        reach_again(session, target.node)
    injection.clear()
    session.tell("undone, and seen to be gone")


def _abandon(session: Session, injection: Injection, error: BaseException) -> None:
    try:
        injection.abandon(f"{type(error).__name__}: {error}")
    except ChaosError as second:
        session.ledger.append(Noted(injection.id, f"undo failed: {second}"))


def _process(session: Session, node: Node, pid: int) -> RankProcess:
    answer = session.fleet.shell(node.name).perform(Consult("process", {"pid": pid}))
    seen = json_of(answer)
    if not seen.get("exists") or "started" not in seen:
        raise Unsupported(
            f"find process {pid}", ability="that process", where=node.name, why="it does not run", todo="look again with ps"
        )
    return RankProcess(0, 0, pid, int(seen["started"]))
