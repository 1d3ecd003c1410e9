"""Power through the node's BMC."""

from __future__ import annotations

from chaos.model.acts import Answer, Power, Question, Script, undo_of
from chaos.model.unknown import Unknown
from chaos.protocols.ability import PowerControl


class BmcPower(PowerControl):
    """Acts that the controller gives to the BMC; the node itself has no part in them."""

    def state(self) -> Question[str | Unknown]:
        return Question(Power("state"), _read_state)

    def crash(self) -> Script:
        return Script((Power("crash"),))

    def on(self) -> Script:
        return undo_of(Power("on"))


def _read_state(answer: Answer) -> str | Unknown:
    word = answer.stdout.strip()
    if not answer.is_done or answer.timed_out or word not in {"on", "off"}:
        return Unknown("the BMC did not say whether the node has power", answer.tail)
    return word
