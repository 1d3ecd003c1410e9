"""A requirement and its grade: history in, verdict out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from chaos.model.history import History
from chaos.model.verdicts import Outcome, Verdict


class Criterion(ABC):
    """A requirement. Subclasses are frozen dataclasses whose fields are thresholds and options; a profile fills them.

    ``rejects_with`` is the grade of a known-bad history: FAIL where the criterion is about the cluster, INVALID or INCONCLUSIVE where
    it is about the test itself.

    Every criterion carries its own canaries: histories that it must reject and accept before its word counts.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    rejects_with: ClassVar[Outcome] = Outcome.FAIL

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
        """An instance and a history that it must reject."""
