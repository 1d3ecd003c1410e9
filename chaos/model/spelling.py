"""What somebody probably meant to write."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str]) -> str:
    """``did you mean 'vendor'?`` or, when nothing is near, the words that are known."""
    from difflib import get_close_matches  # noqa: PLC0415 - only needed once something is wrong

    words = sorted(known)
    near = get_close_matches(word, words, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are: {', '.join(words)}" if words else "none are known"
