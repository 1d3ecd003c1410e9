"""Numbers of a profile: always with their unit, brought to the unit of the threshold that they fill, exactly."""

from __future__ import annotations

import re
from decimal import Decimal

_TEXT = re.compile(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(\S.*)?", re.ASCII)
_TIMES = {
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
_SHARES = frozenset({"share", "of linear", "relative deviation of the loss"})


def in_unit(value: object, unit: str) -> float:
    """The number in this unit: ``5 min`` is 300 in ``s``, ``99.995 %`` is 0.99995 as a share.

    Raises:
        ValueError: the unit is missing, or is not one of this dimension.
    """
    found = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or found[2] is None:
        raise ValueError(f"{value!r} has no unit: write {_example(unit)}")
    number, given = Decimal(found[1]), found[2].strip()
    if unit in _TIMES and given in _TIMES:
        return float(number * _TIMES[given] / _TIMES[unit])
    if unit in _SHARES and given == "%":
        return float(number / 100)
    if given != unit:
        raise ValueError(f"{value!r} is not in {unit}: write {_example(unit)}")
    return float(number)


def _example(unit: str) -> str:
    if unit in _TIMES:
        return f"a number with a unit of time, such as 5 {unit}"
    return "a percentage, such as 99.5 %" if unit in _SHARES else f"a number with its unit, such as 1 {unit}"
