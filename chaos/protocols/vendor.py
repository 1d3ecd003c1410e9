"""One platform family: which abilities a node of it has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from chaos.model.nodes import Node
from chaos.protocols.ability import Ability


class Vendor(ABC):
    """A vendor maps a node to the abilities that it offers. One file per vendor; ``kind`` is what an inventory writes."""

    kind: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def abilities(self, node: Node) -> tuple[Ability, ...]:
        """What this vendor adds on this node. The operating system's own abilities come from the vendor ``linux``."""
