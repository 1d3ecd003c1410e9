"""Reaching a node again that lost its power and its memory."""

from __future__ import annotations

from chaos.engine.session import Session
from chaos.errors import ChaosError
from chaos.model.nodes import Node
from chaos.model.quantities import seconds

_WITHIN = 60.0
_EVERY = 1 * seconds


def reach_again(session: Session, node: Node) -> None:
    """Tries until the node answers; its clock is measured and its watches are set anew.

    Raises:
        SiteError: it did not come back in a minute.
    """
    deadline = session.clock.now() + _WITHIN
    while isinstance(outcome := session.reach(node), ChaosError):
        if session.clock.now() > deadline:
            raise outcome
        session.pump(_EVERY)
