"""The third value: what could not be read is neither good nor bad."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """An answer that could not be understood, with the text kept.

    It has no truth value on purpose: whoever branches on it must say what unknown means there.
    """

    why: str
    text: str = ""

    def __bool__(self) -> bool:
        message = f"unknown is neither true nor false: {self.why}"
        raise TypeError(message)

    def __str__(self) -> str:
        return f"UNKNOWN ({self.why})"
