"""What many nodes said, in few lines: equal answers share a line, and no node is missing."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.errors import ChaosError
from chaos.model.nodes import fold


def folded(answers: Mapping[str, object]) -> tuple[str, ...]:
    """Lines such as ``gpu[001-064]: ok``, the most frequent answer first."""
    groups: dict[str, list[str]] = {}
    for name, answer in answers.items():
        words = f"{type(answer).__name__}: {answer.why or answer.attempted}" if isinstance(answer, ChaosError) else str(answer)
        groups.setdefault(words, []).append(name)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return tuple(f"{fold(names)}: {words}" for words, names in ordered)
