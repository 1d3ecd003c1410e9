"""A check of one node: a question, and what its answer must be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from chaos.model.acts import Question
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability, Platform


class Health(StrEnum):
    """Three values: an answer that could not be read is UNKNOWN, never healthy."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found on one node."""

    probe: str
    node: str
    health: Health
    sentence: str


class Probe(ABC):
    """A question to a node and the judgement of its answer. Pure."""

    kind: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[tuple[type[Ability], ...]] = ()

    @abstractmethod
    def question(self, node: Node, platform: Platform) -> Question[Any]: ...

    @abstractmethod
    def judge(self, node: Node, answer: Any | Unknown) -> Finding: ...
