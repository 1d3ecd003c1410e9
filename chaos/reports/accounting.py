"""From a judgement and its history to the :class:`~chaos.reports.account.Account`."""

from __future__ import annotations

from chaos.model.events import (
    ClockMeasured,
    NodeLost,
    NodeReached,
    Noted,
    Observed,
    Quarantined,
    RunResumed,
    StepBegun,
    StepDone,
    StepFailed,
    WorkloadEnded,
    WorkloadStarted,
)
from chaos.model.folding.injections import Injection, injections
from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.injections import InjectionState as State
from chaos.model.verdicts import Judgement
from chaos.reports.account import (
    VERSION,
    Account,
    FaultAccount,
    LoadAccount,
    NodeAccount,
    NumberAccount,
    RunAccount,
    StepAccount,
)

THE_NUMBERS = (
    ("continuous run", "720 h", "continuous_run"),
    ("availability", "99.995 %", "availability"),
    ("recovery", "5 min", "recovery"),
)
"""Name, the claim of the five-star profile, and the criterion over it."""


def account(judgement: Judgement, history: History) -> Account:
    """Everything that a certificate of this run states."""
    return Account(
        version=VERSION,
        profile=judgement.profile,
        profile_digest=judgement.profile_digest,
        outcome=judgement.outcome.value,
        exit_code=judgement.exit_code,
        run=_run(history),
        numbers=tuple(_number(judgement, *number) for number in THE_NUMBERS),
        verdicts=judgement.verdicts,
        canaries=judgement.canaries,
        steps=_steps(history),
        loads=_loads(history),
        faults=tuple(_fault(injection) for injection in injections(history)),
        recoveries=timelines(history),
        nodes=_nodes(history),
        unobserved=_unobserved(history),
        remarks=tuple(f"{body.subject}: {body.text}" for _, body in history.of(Noted)),
        does_not_show=judgement.does_not_show,
    )


def _number(judgement: Judgement, name: str, claim: str, criterion: str) -> NumberAccount:
    return NumberAccount(name, claim, tuple(verdict for verdict in judgement.verdicts if verdict.criterion == criterion))


def _run(history: History) -> RunAccount:
    opening, closing = history.opening, history.closing
    first, last = (history.events[0], history.events[-1]) if history.events else (None, None)
    return RunAccount(
        run_id=opening.run_id if opening else "",
        purpose=opening.purpose if opening else "",
        cluster=opening.cluster if opening else "",
        is_virtual=opening.is_virtual if opening else False,
        opened=first.stamp.utc if first else "",
        closed=last.stamp.utc if last and closing else None,
        outcome=closing.outcome if closing else "not closed",
        seed=opening.seed if opening else None,
        nodes=opening.nodes if opening else (),
        spares=opening.spares if opening else (),
        contracted_slots=opening.contracted_slots if opening else None,
        events=len(history.events),
        ledger_head=last.seal if last else "",
        plan_digest=opening.plan_digest if opening else "",
        inventory_digest=opening.inventory_digest if opening else "",
        versions=dict(opening.versions) if opening else {},
    )


def _steps(history: History) -> tuple[StepAccount, ...]:
    begun: dict[str, tuple[int, StepBegun, float]] = {}
    ended: dict[str, tuple[int, StepDone | StepFailed, float]] = {}
    for event in history.events:
        if isinstance(event.body, StepBegun):
            begun[event.body.step] = (event.sequence, event.body, event.stamp.monotonic)
            ended.pop(event.body.step, None)
        elif isinstance(event.body, StepDone | StepFailed):
            ended[event.body.step] = (event.sequence, event.body, event.stamp.monotonic)
    told = tuple(_step(start, ended.get(step)) for step, start in begun.items())
    return told + _never_begun(history, frozenset(begun))


def _step(start: tuple[int, StepBegun, float], end: tuple[int, StepDone | StepFailed, float] | None) -> StepAccount:
    sequence, body, at = start
    if end is None:
        return StepAccount(body.step, body.title, "begun", None, "", (sequence,))
    number, how, until = end
    failed = isinstance(how, StepFailed)
    why = f"{how.error}: {how.why}" if isinstance(how, StepFailed) else ""
    return StepAccount(body.step, body.title, "failed" if failed else "done", until - at, why, (sequence, number))


def _never_begun(history: History, begun: frozenset[str]) -> tuple[StepAccount, ...]:
    planned = history.opening.plan.get("steps", ()) if history.opening else ()
    names = [(str(step.get("id", "")), str(step.get("title", ""))) for step in planned]
    return tuple(StepAccount(step, title, "planned", None, "", ()) for step, title in names if step not in begun)


def _loads(history: History) -> tuple[LoadAccount, ...]:
    ends = {body.workload: (sequence, body) for sequence, body in history.of(WorkloadEnded)}
    return tuple(_load(sequence, body, ends.get(body.workload)) for sequence, body in history.of(WorkloadStarted))


def _load(sequence: int, body: WorkloadStarted, end: tuple[int, WorkloadEnded] | None) -> LoadAccount:
    return LoadAccount(
        workload=body.workload,
        type=body.type,
        launcher=body.launcher,
        recovered_by=body.recovered_by,
        nodes=body.nodes,
        spares=body.spares,
        expected_ranks=body.expected_ranks,
        parameters=dict(body.parameters),
        outcome=end[1].outcome if end else "not ended",
        evidence=(sequence, end[0]) if end else (sequence,),
    )


def _fault(injection: Injection) -> FaultAccount:
    intended, moves = injection.intended, injection.moves
    last = max(moves.values(), default=None, key=lambda move: move[0])
    return FaultAccount(
        injection=intended.injection,
        attempt=intended.attempt,
        fault=intended.fault,
        catalogue_id=intended.catalogue_id,
        parameters=dict(intended.parameters),
        node=intended.node,
        severity=intended.severity,
        fidelity=intended.fidelity,
        mechanism=intended.mechanism,
        layer=intended.layer,
        fault_class=intended.fault_class,
        effect=State.PROVEN in moves,
        cleared=State.CLEARED in moves,
        last_state=last[1].state.value if last else State.INTENDED.value,
        proof=moves[State.PROVEN][1].proof if State.PROVEN in moves else "",
        control_flagged=injection.control[1].flagged if injection.control else None,
        evidence=injection.evidence,
    )


def _nodes(history: History) -> tuple[NodeAccount, ...]:
    opening = history.opening
    roles = {**dict.fromkeys(opening.nodes, "compute"), **dict.fromkeys(opening.spares, "spare")} if opening else {}
    for node in [body.node for _, body in history.of(NodeReached)] + [body.node for _, body in history.of(NodeLost)]:
        roles.setdefault(node, "other")
    return tuple(_node(history, node, role) for node, role in roles.items())


def _node(history: History, node: str, role: str) -> NodeAccount:
    reached = [body for _, body in history.of(NodeReached) if body.node == node]
    booted = [str(body.data.get("boot_id", "")) for _, body in history.of(Observed) if body.node == node and body.what == "boot"]
    errors = [body.error for _, body in history.of(ClockMeasured) if body.node == node]
    why = [body.why for _, body in history.of(Quarantined) if body.node == node]
    return NodeAccount(
        node=node,
        role=role,
        reached=len(reached),
        boots=len({body.boot_id for body in reached} | set(booted)),
        lost=sum(body.node == node for _, body in history.of(NodeLost)),
        clock_error=max(errors, default=None),
        quarantined="; ".join(why),
    )


def _unobserved(history: History) -> tuple[str, ...]:
    stamps = {event.sequence: event.stamp.monotonic for event in history.events}
    away = [
        f"#{sequence}: the harness was away for {max(0.0, stamps[sequence] - body.unobserved_from):.1f} s {body.why}".rstrip()
        for sequence, body in history.of(RunResumed)
    ]
    gaps = [
        f"#{row.evidence}: {row.node}: {row.data.get('watch', '')}: {row.data.get('why', '')}"
        for row in history.observations("watch.gap")
    ]
    damaged = [f"{name}: its bytes do not match the sealed hash" for name in history.damaged]
    return (*away, *gaps, *damaged)
