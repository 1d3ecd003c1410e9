"""The way to a node's power that does not pass through the node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from chaos.model.acts import Power
from chaos.model.nodes import Node
from chaos.model.quantities import Duration


class PowerDriver(ABC):
    """Talks to a BMC. ``kind`` is what an inventory writes as ``bmc.driver``."""

    kind: ClassVar[str]

    @abstractmethod
    def is_on(self, node: Node) -> bool:
        """Whether the node has power.

        Raises:
            SiteError: the BMC did not answer.
        """

    @abstractmethod
    def perform(self, node: Node, act: Power) -> None:
        """Carry out a power act; it is idempotent.

        Raises:
            SiteError: the BMC did not answer or refused.
        """

    @abstractmethod
    def arm_power_on(self, node: Node, after: Duration) -> None:
        """Have the BMC give power back by itself after this time unless :meth:`arm_power_on` is called again (a lease)."""

    @abstractmethod
    def disarm_power_on(self, node: Node) -> None:
        """Cancel :meth:`arm_power_on`."""
