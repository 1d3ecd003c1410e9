"""One way to tell a judgement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from chaos.model.history import History
from chaos.model.verdicts import Judgement


class Report(ABC):
    """Turns a judgement and its history into files. Computes no new facts."""

    kind: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def render(self, judgement: Judgement, history: History, *, language: str = "en") -> Mapping[str, str | bytes]:
        """File contents by name, relative to the folder of the run's reports."""
