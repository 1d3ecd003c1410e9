"""What nodes say is data. Characters that would act on the reader or on the file format are shown instead of obeyed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def printable(text: str) -> str:
    r"""The text with control characters, overrides of the writing direction and unassigned code points spelled out.

    Terminal escapes, NUL and U+202E come out as ``\x1b``, ``\x00`` and ``\u202e``; tabs and line ends stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _is_plain(character) else _spelled(character) for character in text)


def _is_plain(character: str) -> bool:
    return character in _KEPT or unicodedata.category(character) not in _HIDDEN


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def fold_numbers(numbers: Iterable[int]) -> str:
    """Event numbers in short: ``12-18, 40``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
