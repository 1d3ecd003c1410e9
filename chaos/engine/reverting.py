"""Undoing from the record alone: the undo lies there as data, so the code of the fault is not needed."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.engine.session import Session
from chaos.errors import ChaosError, SiteError, StillPresent
from chaos.model.acts import Power, Script
from chaos.model.events import Event, Quarantined
from chaos.model.injections import InjectionIntended, InjectionMoved, InjectionState
from chaos.model.plans import FaultSpec
from chaos.model.quantities import seconds
from chaos.model.unknown import Unknown
from chaos.protocols.fault import Target

_SETTLED = frozenset({InjectionState.CLEARED, InjectionState.REFUSED})


@dataclass(frozen=True, slots=True)
class OpenInjection:
    """An injection whose end is not in the record."""

    intended: InjectionIntended
    last: InjectionState


def open_injections(events: tuple[Event, ...]) -> tuple[OpenInjection, ...]:
    """All injections that were intended and neither cleared nor refused, oldest first."""
    found: dict[tuple[str, int], OpenInjection] = {}
    for event in events:
        body = event.body
        if isinstance(body, InjectionIntended):
            found[body.injection, body.attempt] = OpenInjection(body, InjectionState.INTENDED)
        elif isinstance(body, InjectionMoved) and (body.injection, body.attempt) in found:
            key = (body.injection, body.attempt)
            found[key] = OpenInjection(found[key].intended, body.state)
    return tuple(each for each in found.values() if each.last not in _SETTLED)


def revert_all(session: Session) -> int:
    """Undoes every open injection, whatever stage it reached, and proves that it is gone. Returns how many there were.

    Raises:
        StillPresent: one could not be cleared; its node is quarantined. The others have been tried too.
    """
    opened = open_injections(session.ledger.events)
    stuck = [each.intended.node for each in opened if not _revert(session, each)]
    if stuck:
        raise StillPresent(
            "undo what an earlier start left",
            where=", ".join(stuck),
            why="see the ledger",
            todo="clean by hand or reboot, then `chaos sweep`",
        )
    return len(opened)


def _revert(session: Session, each: OpenInjection) -> bool:
    intended = each.intended
    if each.last not in {InjectionState.UNDONE, InjectionState.STUCK, InjectionState.NO_EFFECT}:
        _move(session, intended, InjectionState.INDETERMINATE, proof=f"the record ends at {each.last}")
    try:
        by, proof = _undo(session, intended)
        _move(session, intended, InjectionState.UNDONE, by=by, proof=proof)
        answer = _present(session, intended)
    except ChaosError as error:
        answer = Unknown(str(error))
    if answer is False:
        _move(session, intended, InjectionState.CLEARED, proof="gone")
        _disarm(session, intended)
        return True
    _move(session, intended, InjectionState.STUCK, proof=str(answer))
    session.quarantined.add(intended.node)
    session.ledger.append(Quarantined(intended.node, f"{intended.fault}: {answer}"))
    return False


def _undo(session: Session, intended: InjectionIntended) -> tuple[str, str]:
    """Who undid it, and with what result. A guard that still waits does it; else the script from the record."""
    node = session.cluster[intended.node]
    script = Script.decode(intended.undo)
    if not any(isinstance(act, Power) for act in script.acts):
        shell = session.fleet.shell(node.name)
        for state in shell.guards():
            if state.id == intended.guard and state.state in {"armed", "dead"}:
                return "guard", f"guard {shell.fire(state.id).state}"
            if state.id == intended.guard and state.state == "fired":
                return "guard", f"undone without us: {state.why}"
    answers = session.performer.run(node, script)
    left = "; ".join(answer.tail for answer in answers if not answer.is_done)
    return "controller", left or f"{len(answers)} acts done"


def _present(session: Session, intended: InjectionIntended) -> bool | Unknown:
    """Whether the fault is still there, asked with the fault's own proof; a one-shot leaves nothing."""
    node = session.cluster[intended.node]
    fault = session.catalog.fault(FaultSpec(intended.fault, dict(intended.parameters)))
    if not fault.is_lasting:
        return False
    target = Target(node, session.platform(node), injection=intended.injection)
    answer: bool | Unknown = Unknown("not asked")
    deadline = session.clock.now() + 15.0
    while answer is not False and session.clock.now() < deadline:
        try:
            answer = session.performer.ask(node, fault.presence(target, intended.before))
        except SiteError as error:
            answer = Unknown(str(error))
        if answer is not False:
            session.pump(0.5 * seconds)
    return answer


def _disarm(session: Session, intended: InjectionIntended) -> None:
    try:
        session.fleet.shell(intended.node).disarm(intended.guard)
    except ChaosError:
        return  # a guard that has fired, or went with its node, has nothing left to disarm


def _move(session: Session, intended: InjectionIntended, state: InjectionState, *, by: str = "", proof: str = "") -> None:
    session.ledger.append(InjectionMoved(intended.injection, intended.attempt, state, session.clock.now(), 0.0, proof, by))
