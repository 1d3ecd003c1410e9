"""Carries out a plan, step by step, and goes on where the record ends."""

from __future__ import annotations

from chaos.engine.drilling import Drill
from chaos.engine.loads import start_load
from chaos.engine.measuring import measure
from chaos.engine.preflight import preflight, sweep
from chaos.engine.reverting import revert_all
from chaos.engine.session import Session
from chaos.errors import ChaosError, InjectionError, NotPermitted, PlanError, SiteError, StopConditionMet, Unsupported
from chaos.model.events import Event, Noted, RunClosed, StepBegun, StepDone, StepFailed
from chaos.model.injections import DrillEnded
from chaos.model.nodes import fold
from chaos.model.plans import Drills, Measure, Plan, Preflight, Step


def carry_out(session: Session, plan: Plan) -> None:
    """All steps of a plan that the record does not show as done.

    A step that fails is booked and the plan goes on where that makes sense: the verdict over missing evidence is the grading's.

    Raises:
        SiteError: the preflight refuses the site.
        StopConditionMet: somebody asked to stop; every fault is undone.
        KeyboardInterrupt: likewise.
    """
    try:
        for step in plan.steps:
            _carry_out_step(session, step)
    except (KeyboardInterrupt, StopConditionMet, SiteError) as error:
        _undo_everything(session, f"{type(error).__name__}: {error}")
        raise
    leave(session)
    session.ledger.append(RunClosed("finished"))


def _carry_out_step(session: Session, step: Step) -> None:
    if not isinstance(step, Preflight) and _is_done(session.ledger.events, step.id):
        session.tell(f"{step.title}: already done")
        return
    session.tell(f"{step.title} (about {step.expected})")
    session.ledger.append(StepBegun(step.id, step.title))
    try:
        _act(session, step)
    except (StopConditionMet, KeyboardInterrupt):
        raise
    except ChaosError as error:
        session.ledger.append(StepFailed(step.id, type(error).__name__, str(error)))
        if isinstance(step, Preflight):
            raise
        session.tell(f"  not carried out: {error}")
        return
    session.ledger.append(StepDone(step.id))


def _act(session: Session, step: Step) -> None:
    if isinstance(step, Preflight):
        preflight(session)
        revert_all(session)
    elif isinstance(step, Measure):
        measure(session, step, fence=session.fence)
    else:
        _drill_all(session, step)


def _drill_all(session: Session, step: Drills) -> None:
    """One load, and every strike that the record does not show as ended; a strike that fails does not cost the others."""
    remaining = [strike for strike in step.strikes if not _has_ended(session.ledger.events, strike.id)]
    if not remaining:
        return
    load = start_load(session, step.workload, fence=session.fence)
    failed: list[str] = []
    try:
        for number, strike in enumerate(remaining, start=1):
            session.tell(f"  [{number}/{len(remaining)}] {strike.fault} on {strike.node}")
            try:
                fault = session.catalog.fault(strike.fault)
                outcome = Drill(session, load, strike, fault, steady_steps=step.steady_steps).run()
                session.tell(f"    {outcome}")
            except StopConditionMet:
                raise
            except (PlanError, NotPermitted, Unsupported, InjectionError, SiteError) as error:
                failed.append(strike.id)
                session.ledger.append(Noted(strike.id, f"not carried out: {error}"))
                session.tell(f"    not carried out: {error}")
    finally:
        load.stop()
    if failed:
        raise PlanError("carry out every drill", where=step.id, why=f"{', '.join(failed)} failed", todo="see the ledger")


def _is_done(events: tuple[Event, ...], step: str) -> bool:
    return any(isinstance(event.body, StepDone) and event.body.step == step for event in events)


def _has_ended(events: tuple[Event, ...], drill: str) -> bool:
    return any(
        isinstance(event.body, DrillEnded) and event.body.drill == drill and event.body.outcome != "aborted" for event in events
    )


def _undo_everything(session: Session, why: str) -> None:
    session.tell("undoing every fault")
    session.ledger.append(Noted("run", f"interrupted: {why}"))
    try:
        revert_all(session)
    except ChaosError as error:
        session.ledger.append(Noted("run", f"undo: {error}"))
        session.tell(str(error))


def leave(session: Session) -> None:
    """Takes the agents away and looks once more that nothing is left."""
    reached = [node for node in session.cluster if node.name not in session.quarantined]
    sweep(session, reached)
    failed: list[str] = []
    for node in reached:
        try:
            session.fleet.shell(node.name).leave()
        except ChaosError as error:
            failed.append(node.name)
            session.ledger.append(Noted(node.name, f"agent not removed: {error}"))
    if failed:
        session.tell(f"agents not removed on {fold(failed)}")
