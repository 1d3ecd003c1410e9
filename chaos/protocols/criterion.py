"""A requirement and its grade: history in, verdict out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from chaos.model.history import History
from chaos.model.verdicts import Verdict


class Criterion(ABC):
    """A requirement. Subclasses are frozen dataclasses whose fields are thresholds and options; a profile fills them.

    Every criterion carries its own canaries: histories that it must reject and accept before its word counts.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]

    @abstractmethod
    def grade(self, history: History) -> Verdict:
        """The verdict over this history. Pure; missing evidence is INCONCLUSIVE."""

    @classmethod
    @abstractmethod
    def known_good(cls) -> tuple[Criterion, History]:
        """An instance and a history that it must PASS."""

    @classmethod
    @abstractmethod
    def known_bad(cls) -> tuple[Criterion, History]:
        """An instance and a history that it must FAIL."""
