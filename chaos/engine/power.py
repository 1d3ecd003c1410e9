"""Acts and questions on a node, wherever they have to be performed: most by its agent, power by its BMC."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chaos.errors import ChaosError
from chaos.model.acts import Answer, Power, Question, Script
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.power import PowerDriver
from chaos.protocols.shell import Fleet

T = TypeVar("T")


class Performer:
    """Performs scripts and asks questions on nodes."""

    def __init__(self, fleet: Fleet, driver: Callable[[Node], PowerDriver]) -> None:
        self.fleet = fleet
        self.driver = driver

    def run(self, node: Node, script: Script, *, deadline: Duration = 30 * seconds) -> tuple[Answer, ...]:
        """Performs a script. Power acts go to the BMC; the answers come in the order of the acts."""
        if not any(isinstance(act, Power) for act in script.acts):
            return self.fleet.shell(node.name).run(script, deadline=deadline) if script else ()
        answers: list[Answer] = []
        for act in script.acts:
            answer = (
                self._power(node, act) if isinstance(act, Power) else self.fleet.shell(node.name).perform(act, deadline=deadline)
            )
            answers.append(answer)
            if not answer.is_done and not script.keep_going:
                break
        return tuple(answers)

    def ask(self, node: Node, question: Question[T], *, deadline: Duration = 10 * seconds) -> T:
        """Asks a question; one about power is answered by the BMC with ``on`` or ``off``."""
        if isinstance(question.asks, Power):
            return question.read(self._power_state(node))
        return self.fleet.shell(node.name).ask(question, deadline=deadline)

    def _power(self, node: Node, act: Power) -> Answer:
        try:
            self.driver(node).perform(node, act)
        except ChaosError as error:
            return Answer(exit_status=None, error=str(error), is_done=False)
        return Answer()

    def _power_state(self, node: Node) -> Answer:
        try:
            return Answer(stdout="on" if self.driver(node).is_on(node) else "off")
        except ChaosError as error:
            return Answer(exit_status=None, error=str(error), is_done=False)
