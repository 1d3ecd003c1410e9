"""Questions whose answer is judged; what is unknown stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chaos.model.acts import Question
from chaos.model.unknown import Unknown

T = TypeVar("T")
R = TypeVar("R")


def judged(question: Question[T | Unknown], judge: Callable[[T], R | Unknown]) -> Question[R | Unknown]:
    """The same question, its readable answers judged."""

    def read(answer: object) -> R | Unknown:
        found = question.read(answer)  # type: ignore[arg-type]
        return found if isinstance(found, Unknown) else judge(found)

    return Question(question.asks, read)
