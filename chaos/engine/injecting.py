"""The life of one injection: journal, arm, act, prove, undo, prove, disarm. Each transition is in the ledger before the next act."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.engine.answers import json_of
from chaos.engine.guarding import ArmedUndo, NodeUndo, PowerUndo
from chaos.engine.safety import check_control_path, check_permission, check_power_path
from chaos.engine.session import Session
from chaos.errors import ChaosError, InjectionError, NoEffect, SiteError, StillPresent, Unsupported
from chaos.model.acts import Answer, Consult, Script
from chaos.model.events import Noted, Quarantined
from chaos.model.guards import Guard
from chaos.model.injections import ControlSeen, InjectionIntended, InjectionMoved, InjectionState
from chaos.model.quantities import Duration, seconds
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Snapshot
from chaos.protocols.fault import Fault, Target

LEASE = 20 * seconds
"""A node undoes a fault when the controller was silent for this long: longer than a slow login, shorter than a recovery limit."""

_PROOF_WITHIN = 10 * seconds
_CLEARED_WITHIN = 15 * seconds
_ASK_AGAIN_AFTER = 0.3 * seconds


@dataclass
class Injection:
    """One fault on one target. Build it with :func:`intend`."""

    session: Session
    fault: Fault
    target: Target
    id: str
    attempt: int
    before: Snapshot
    undo_script: Script
    armed: ArmedUndo
    applied_at: float = 0.0

    def arm(self) -> None:
        """Arms the undo and proves that it waits.

        Raises:
            InjectionError: the guard does not stand; nothing has been done yet.
        """
        self.armed.arm()
        state = self.armed.state()
        if state is None or state.state != "armed":
            raise InjectionError(
                f"arm the undo of {self.fault}",
                where=self.target.node.name,
                why="the guard does not stand" if state is None else f"the guard is {state.state}",
                todo="look at the agent on the node: nothing was injected",
            )
        self.session.leases.hold(self.armed, self.session.clock.now())
        self.move(InjectionState.ARMED, proof=f"guard {state.id} waits as process {state.pid}, lease {self.armed.guard.lease}")

    def apply(self) -> None:
        """Lets the fault happen.

        Raises:
            InjectionError: an act of it failed; the undo is run at once.
        """
        start = self.session.clock.now()
        answers = self.session.performer.run(self.target.node, self.fault.apply(self.target, self.before), deadline=15 * seconds)
        end = self.session.clock.now()
        self.applied_at = start
        failed = [answer for answer in answers if not answer.is_done]
        if failed:
            raise InjectionError(
                f"apply {self.fault}",
                where=self.target.node.name,
                why=failed[0].tail or "an act was not done",
                todo="see the ledger",
            )
        self.move(InjectionState.APPLIED, at=start, error=end - start, proof=f"{len(answers)} acts done")

    def prove(self) -> None:
        """Sees the effect from outside the injector.

        Raises:
            NoEffect: it was not seen; the drill is invalid.
        """
        question = self.fault.presence(self.target, self.before)
        answer = self._asked_until(True, _PROOF_WITHIN)
        if answer is not True:
            self.move(InjectionState.NO_EFFECT, proof=f"{question}: {answer}")
            raise NoEffect(
                f"prove {self.fault}",
                where=self.target.node.name,
                why=f"{question} answered {answer}",
                todo="the drill is invalid",
            )
        self.move(InjectionState.PROVEN, proof=f"{question}: present")

    def undo(self) -> None:
        """Runs the undo where it waits; the guard's own process does it, as it would without us."""
        if not self.undo_script:
            self.move(InjectionState.UNDONE, by="nobody", proof="the fault is over by itself: nothing to undo")
            return
        try:
            state = self.armed.fire()
            failures = "; ".join(state.failures)
            self.move(InjectionState.UNDONE, by="guard", proof=failures or f"guard {state.state}")
        except SiteError as error:
            answers = self.session.performer.run(self.target.node, self.undo_script)
            left = "; ".join(answer.tail for answer in answers if not answer.is_done)
            self.move(InjectionState.UNDONE, by="controller", proof=left or f"guard did not answer ({error})")

    def clear(self) -> None:
        """Sees from outside that nothing is left, and lets the guard go.

        Raises:
            StillPresent: something is left; the node is quarantined.
        """
        if self.fault.is_lasting:
            answer = self._asked_until(False, _CLEARED_WITHIN)
            if answer is not False:
                self._quarantine(str(answer))
            proof = f"{self.fault.presence(self.target, self.before)}: gone"
        else:
            proof = "one-shot: nothing stays"
        self.move(InjectionState.CLEARED, proof=proof)
        self.release()

    def release(self) -> None:
        """Ends the lease and disarms; a guard that went with its node needs no disarming."""
        self.session.leases.release(self.armed.guard.id)
        try:
            self.armed.disarm()
        except SiteError as error:
            self.session.ledger.append(Noted(self.id, f"guard not disarmed: {error}"))

    def abandon(self, why: str) -> None:
        """Leads from anywhere to the undo: whatever was half done is undone and looked at."""
        self.session.ledger.append(Noted(self.id, f"abandoned: {why}"))
        self.undo()
        self.clear()

    def move(self, state: InjectionState, *, at: float | None = None, error: float = 0.0, proof: str = "", by: str = "") -> None:
        """Books a state."""
        moment = self.session.clock.now() if at is None else at
        self.session.ledger.append(InjectionMoved(self.id, self.attempt, state, moment, error, proof, by))

    def _quarantine(self, answer: str) -> None:
        self.move(InjectionState.STUCK, proof=answer)
        self.session.ledger.append(Quarantined(self.target.node.name, f"{self.fault} could not be cleared: {answer}"))
        self.session.quarantined.add(self.target.node.name)
        self.release()
        raise StillPresent(
            f"clear {self.fault}",
            where=self.target.node.name,
            why=f"after the undo it still shows: {answer}",
            todo="the node is quarantined; clean it by hand or reboot it, then `chaos sweep`",
        )

    def _asked_until(self, wanted: bool, span: Duration) -> bool | Unknown | ChaosError:
        question = self.fault.presence(self.target, self.before)
        deadline = self.session.clock.now() + span.seconds
        while True:
            try:
                answer: bool | Unknown | ChaosError = self.session.performer.ask(self.target.node, question)
            except SiteError as error:
                answer = error
            if answer is wanted or self.session.clock.now() >= deadline:
                return answer
            self.session.pump(_ASK_AGAIN_AFTER)


def intend(
    session: Session, fault: Fault, target: Target, *, injection: str, attempt: int, deadline: Duration, workload: str
) -> Injection:
    """Checks, takes the snapshot and writes everything down. Nothing has been done to the node when this returns.

    Raises:
        NotPermitted: the inventory, the control path or the power path forbid it.
        Unsupported: the platform lacks an ability.
        SiteError: the snapshot could not be taken.
    """
    check_target(session, fault, target)
    before = session.performer.ask(target.node, fault.before(target))
    if isinstance(before, Unknown):
        raise Unsupported(
            f"take the snapshot for {fault}",
            ability="a readable state",
            where=target.node.name,
            why=str(before),
            todo="see `chaos check`",
        )
    undo = fault.undo(target, before)
    guard = Guard(f"{injection}-{attempt}", undo, LEASE, deadline, session.fence)
    kind = PowerUndo if fault.is_out_of_band else NodeUndo
    session.ledger.append(
        _intention(fault, target, guard, injection=injection, attempt=attempt, before=before, workload=workload)
    )
    return Injection(session, fault, target, injection, attempt, before, undo, kind(session.performer, target.node, guard))


def check_target(session: Session, fault: Fault, target: Target) -> None:
    """All refusals that need no snapshot.

    Raises:
        NotPermitted: see :mod:`chaos.engine.safety`.
        Unsupported: the platform lacks an ability.
    """
    node = target.node
    check_permission(fault, node)
    for missing in target.platform.lacks(fault.needs):
        raise Unsupported(
            f"inject {fault}", ability=missing, where=node.name, todo="`chaos faults list --node` shows what fits this node"
        )
    check_power_path(fault, node, session.performer)
    if fault.touches(target):
        check_control_path(fault, target, _ssh_interface(session, target))


def _ssh_interface(session: Session, target: Target) -> str:
    answer: Answer = session.fleet.shell(target.node.name).perform(Consult("ssh_peer"))
    return str(json_of(answer).get("interface") or "")


def _intention(
    fault: Fault, target: Target, guard: Guard, *, injection: str, attempt: int, before: Snapshot, workload: str
) -> InjectionIntended:
    return InjectionIntended(
        injection=injection,
        attempt=attempt,
        fault=fault.kind,
        catalogue_id=fault.catalogue_id,
        parameters=fault.parameters,
        node=target.node.name,
        severity=str(fault.severity),
        fidelity=fault.fidelity,
        mechanism=fault.mechanism,
        layer=fault.layer,
        fault_class=fault.fault_class,
        expects=fault.expects,
        before=before,
        undo=guard.undo.encode(),
        guard=guard.id,
        lease_seconds=guard.lease.seconds,
        deadline_seconds=guard.deadline.seconds,
        workload=workload,
    )


def control(session: Session, fault: Fault, elsewhere: Target, injection: str) -> bool:
    """The negative control: the presence question asked where the fault is not. True when it wrongly says present.

    A control that cannot be asked or read proves nothing and is booked as such.
    """
    try:
        before = session.performer.ask(elsewhere.node, fault.before(elsewhere))
        if isinstance(before, Unknown):
            answer: bool | Unknown = before
        else:
            answer = session.performer.ask(elsewhere.node, fault.presence(elsewhere, before))
    except (SiteError, LookupError) as error:
        answer = Unknown(str(error))
    if isinstance(answer, Unknown):
        session.ledger.append(Noted(injection, f"negative control on {elsewhere.node.name} not readable: {answer}"))
        return False
    session.ledger.append(ControlSeen(injection, fault.kind, elsewhere.node.name, answer, str(answer)))
    return answer
