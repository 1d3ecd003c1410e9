"""Quantities that carry their unit.

A :class:`Duration` is a whole number of nanoseconds and a :class:`Percentage` a decimal, so 99.995 % of 720 h is exactly
129.6 s and equality means equality.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Self

import durationpy

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

_NANOSECONDS = 1_000_000_000


def _from_text_schema(parse: Any, kind: type) -> CoreSchema:
    from pydantic_core import core_schema  # noqa: PLC0415 - only those who validate documents pay for pydantic

    return core_schema.no_info_plain_validator_function(
        lambda value: value if isinstance(value, kind) else parse(value),
        serialization=core_schema.plain_serializer_function_ser_schema(str),
    )


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in whole nanoseconds. ``30 * seconds``, ``Duration.parse("5m")``."""

    nanoseconds: int

    @classmethod
    def of(cls, number_of_seconds: float) -> Self:
        """The duration nearest to a number of seconds."""
        return cls(round(number_of_seconds * _NANOSECONDS))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``720h``, ``5m``, ``1h30m``, ``250ms``; a bare number is refused because its unit is unknown.

        Raises:
            ValueError: the text has no unit or is not a duration.
        """
        if not isinstance(text, str) or text.strip().lstrip("+-").replace(".", "", 1).isdigit():
            message = f"{text!r} is not a duration: write a number with its unit, such as 300s, 5m or 720h"
            raise ValueError(message)
        try:
            delta = durationpy.from_str(text.strip())
        except (durationpy.DurationError, ValueError, KeyError) as error:
            message = f"{text!r} is not a duration: write a number with its unit, such as 300s, 5m or 720h"
            raise ValueError(message) from error
        return cls((delta.days * 86_400 + delta.seconds) * _NANOSECONDS + delta.microseconds * 1_000)

    @property
    def seconds(self) -> float:
        """The duration as a number of seconds."""
        return self.nanoseconds / _NANOSECONDS

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.nanoseconds + other.nanoseconds)

    def __sub__(self, other: Duration) -> Duration:
        return Duration(self.nanoseconds - other.nanoseconds)

    def __mul__(self, factor: float) -> Duration:
        return Duration(round(self.nanoseconds * factor))

    __rmul__ = __mul__

    def __truediv__(self, other: Duration) -> float:
        return self.nanoseconds / other.nanoseconds

    def __str__(self) -> str:
        return _spell(self.nanoseconds)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        return _from_text_schema(cls.parse, cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, Any]:
        return {"type": "string", "examples": ["300s", "5m", "720h"], "pattern": r"^[0-9.]+(ns|us|µs|ms|s|m|h|d)"}


def _spell(nanoseconds: int) -> str:
    if nanoseconds < 0:
        return f"-{_spell(-nanoseconds)}"
    for name, size in (("us", 1_000), ("ms", 1_000_000)):
        if 0 < nanoseconds < size * 1_000:
            return f"{_plain(Decimal(nanoseconds) / size)}{name}"
    whole_minutes, rest = divmod(nanoseconds, 60 * _NANOSECONDS)
    hours_part, minutes_part = divmod(whole_minutes, 60)
    parts = [f"{hours_part}h" if hours_part else "", f"{minutes_part}m" if minutes_part else ""]
    if rest or not whole_minutes:
        parts.append(f"{_plain(Decimal(rest) / _NANOSECONDS)}s")
    return "".join(parts)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


microseconds = Duration(1_000)
milliseconds = Duration(1_000_000)
seconds = Duration(_NANOSECONDS)
minutes = Duration(60 * _NANOSECONDS)
hours = Duration(3_600 * _NANOSECONDS)


@dataclass(frozen=True, slots=True, order=True)
class Percentage:
    """An exact share. ``Percentage.parse("99.995 %")``; :attr:`fraction` is 0.99995."""

    percent: Decimal

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``99.995 %``.

        Raises:
            ValueError: the percent sign is missing or the number is none.
        """
        number, sign, rest = str(text).partition("%")
        message = f"{text!r} is not a percentage: write it with its sign, such as 99.995 %"
        if not sign or rest.strip():
            raise ValueError(message)
        try:
            return cls(Decimal(number.strip()))
        except InvalidOperation as error:
            raise ValueError(message) from error

    @property
    def fraction(self) -> Decimal:
        """The share as a decimal between 0 and 1."""
        return self.percent / 100

    def __str__(self) -> str:
        return f"{_plain(self.percent)} %"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        return _from_text_schema(cls.parse, cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, Any]:
        return {"type": "string", "examples": ["99.995 %"], "pattern": "%"}


@dataclass(frozen=True, slots=True, order=True)
class Bandwidth:
    """Bytes per second. GB/s is 10^9 bytes, Gb/s is 10^9 bits: they are told apart by the constructor used."""

    bytes_per_second: float

    @classmethod
    def gigabytes(cls, number: float) -> Self:
        """A bandwidth in GB/s, as nccl-tests prints it."""
        return cls(number * 1e9)

    @classmethod
    def gigabits(cls, number: float) -> Self:
        """A bandwidth in Gb/s, as network cards are sold."""
        return cls(number * 1e9 / 8)

    def __str__(self) -> str:
        return f"{self.bytes_per_second / 1e9:.3g} GB/s"
