"""Time as a dependency, so that waiting can be tested without waiting."""

from __future__ import annotations

from abc import ABC, abstractmethod

from chaos.model.events import Stamp
from chaos.model.quantities import Duration


class Clock(ABC):
    """The controller's clock."""

    @abstractmethod
    def now(self) -> float:
        """Seconds on the monotonic clock."""

    @abstractmethod
    def stamp(self) -> Stamp:
        """The moment for a record."""

    @abstractmethod
    def sleep(self, span: Duration) -> None: ...
