"""One drill: steady state, a fault, the cluster's own recovery, the undo, and steady state again."""

from __future__ import annotations

from chaos.engine.injecting import Injection, control, intend
from chaos.engine.loads import Load
from chaos.engine.returning import reach_again
from chaos.engine.safety import check_replacement
from chaos.engine.session import Session
from chaos.errors import ChaosError, InjectionError, NoEffect, NotPermitted, PlanError, SiteError
from chaos.model.events import DrillBegun, DrillEnded, InjectionIntended, Noted
from chaos.model.nodes import Node
from chaos.model.plans import Strike
from chaos.model.quantities import Duration, seconds
from chaos.protocols.fault import Expects, Fault

_STEADY_WITHIN = 60 * seconds
_SPARE_WITHIN = 45 * seconds
_DEGRADED_FOR = 8 * seconds
_RIDDEN_OUT_STEPS = 3
_FULL_SPEED_STEPS = 22


class Drill:
    """Runs one strike against a running load."""

    def __init__(self, session: Session, load: Load, strike: Strike, fault: Fault, *, steady_steps: int) -> None:
        self.session = session
        self.load = load
        self.strike = strike
        self.fault = fault
        self.steady_steps = steady_steps
        self.attempt = 1 + sum(1 for _, past in session.history().of(InjectionIntended) if past.injection == strike.id)

    def run(self) -> str:
        """The outcome: recovered, missed or aborted. Faults are undone whatever happens.

        Raises:
            ChaosError: the drill could not be carried out; it is booked as aborted.
        """
        self._steady()
        node = self._node()
        self._begin(node)
        try:
            outcome, why = self._strike(node)
        except ChaosError as error:
            self._end("aborted", str(error))
            raise
        except KeyboardInterrupt:
            self._end("aborted", "interrupted")
            raise
        self._end(outcome, why)
        return outcome

    def _strike(self, node: Node) -> tuple[str, str]:
        target = self.load.target(node, self.strike.id)
        elsewhere = self._other(node)
        if elsewhere is not None and control(
            self.session, self.fault, self.load.target(elsewhere, self.strike.id), self.strike.id
        ):
            raise NoEffect(
                f"trust the proof of {self.fault}",
                where=elsewhere.name,
                why="it shows where nothing was injected",
                todo="mend the proof",
            )
        injection = intend(
            self.session, self.fault, target, injection=self.strike.id, attempt=self.attempt,
            deadline=self.strike.limit + 60 * seconds, workload=self.load.name,
        )  # fmt: skip
        try:
            round_before, moment = self._inject(injection)
            recovered = self._wait_recovery(injection, round_before, moment)
            injection.undo()
            self._come_back(node)
            injection.clear()
        except BaseException as error:
            self._abandon(injection, error)
            raise
        self._settle(node)
        return self._outcome(injection, recovered=recovered, round_before=round_before)

    def _inject(self, injection: Injection) -> tuple[int, float]:
        injection.arm()
        round_before = self.load.progress.round
        injection.apply()
        injection.prove()
        self.session.tell(f"    {self.fault} took effect on {injection.target.node.name}")
        return round_before, injection.applied_at

    def _wait_recovery(self, injection: Injection, round_before: int, moment: float) -> bool:
        """Whether new steps were seen within the limit; a fault that only slows down is held for a while and then undone."""
        progress = self.load.progress
        if self.fault.expects is Expects.DEGRADE:
            self.session.pump(self.strike.hold or _DEGRADED_FOR)
            return True
        if self.fault.expects is Expects.RIDE_OUT:
            return self._ride_out(injection, round_before)
        limit = Duration.of(self.strike.limit.seconds - (self.session.clock.now() - moment))
        return self.session.pump(limit, lambda: bool(progress.steps_since(moment, round_after=round_before)))

    def _ride_out(self, injection: Injection, round_before: int) -> bool:
        """The fault ends by itself; what counts is that steps go on afterwards, with or without a new round."""
        progress = self.load.progress
        span = self.strike.hold or 4 * seconds
        self.session.pump(span, lambda: bool(progress.steps_since(injection.applied_at, round_after=round_before)))
        over = self.session.clock.now()
        return self.session.pump(self.strike.limit, lambda: len(progress.steps_since(over)) >= _RIDDEN_OUT_STEPS)

    def _outcome(self, injection: Injection, *, recovered: bool, round_before: int) -> tuple[str, str]:
        if recovered:
            return "recovered", ""
        late = self.load.progress.steps_since(injection.applied_at, round_after=round_before)
        return "missed", f"no new step within {self.strike.limit}" + ("; it came back only after the undo" if late else "")

    def _abandon(self, injection: Injection, error: BaseException) -> None:
        try:
            injection.abandon(f"{type(error).__name__}: {error}")
        except (SiteError, InjectionError) as second:
            self.session.ledger.append(Noted(self.strike.id, f"undo after {type(error).__name__} failed too: {second}"))

    def _come_back(self, node: Node) -> None:
        """A node that lost its memory is reached again and gets its part of the load back."""
        if not self.fault.is_out_of_band:
            return
        self.load.progress.forget(node.name)
        reach_again(self.session, node)
        self.load.start_again_on(node)

    def _settle(self, node: Node) -> None:
        """Waits for full speed, and for the node to stand ready again, so that the next drill meets a whole cluster."""
        progress = self.load.progress
        self.load.wait_steps(_FULL_SPEED_STEPS, _STEADY_WITHIN)
        if self.fault.expects is Expects.REPLACE:
            ready = self.session.pump(_SPARE_WITHIN, lambda: node.name in progress.nodes or node.name in progress.spares)
            if not ready:
                self.session.ledger.append(
                    Noted(node.name, f"did not come back as a spare within {_SPARE_WITHIN} after {self.fault}")
                )

    def _steady(self) -> None:
        if not self.load.wait_steps(self.steady_steps, _STEADY_WITHIN):
            raise PlanError(
                f"begin {self.strike.id}",
                where=self.load.name,
                why=f"no {self.steady_steps} steady steps within {_STEADY_WITHIN}: {self.load.last_words()}",
                todo="look at the job's output in the run folder",
            )
        if self.fault.expects is Expects.REPLACE:
            self.session.pump(_SPARE_WITHIN, lambda: bool(self.load.progress.spares))
            check_replacement(self.fault, self.session.cluster[self.strike.node], self.load.progress.spares)

    def _node(self) -> Node:
        """The planned node, or the next one in order that holds ranks when a spare has taken its place."""
        holding = self.load.progress.nodes
        names = [node.name for node in self.session.cluster]
        start = names.index(self.strike.node)
        for name in (*names[start:], *names[:start]):
            if name in holding and name not in self.session.quarantined:
                if name != self.strike.node:
                    self.session.ledger.append(
                        Noted(self.strike.id, f"{self.strike.node} holds no rank now: {name} is struck instead")
                    )
                return self.session.cluster[name]
        raise NotPermitted(
            f"inject {self.fault}", why="no node holds ranks that may be struck", todo="see the ledger for quarantined nodes"
        )

    def _other(self, node: Node) -> Node | None:
        others = [name for name in self.load.progress.nodes if name != node.name]
        return self.session.cluster[others[0]] if others else None

    def _begin(self, node: Node) -> None:
        now, limit = self.session.clock.now(), self.strike.limit.seconds
        self.session.ledger.append(
            DrillBegun(self.strike.id, self.load.name, self.fault.kind, node.name, now, self.steady_steps, limit)
        )

    def _end(self, outcome: str, why: str) -> None:
        self.session.observer.seal(self.load.followed)
        self.session.ledger.append(DrillEnded(self.strike.id, outcome, self.session.clock.now(), why))
