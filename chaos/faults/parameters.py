"""Parameters within their bounds: a fault that makes no sense is refused when it is named, not when it strikes."""

from __future__ import annotations

from typing import Any

from chaos.errors import PlanError


def within(fault: Any, name: str, lowest: Any, highest: Any) -> None:
    """Refuses a parameter outside its bounds, both included.

    Raises:
        PlanError: it is outside, of another type or not a number.
    """
    value = getattr(fault, name)
    if not isinstance(value, type(highest)) and not (isinstance(highest, float) and isinstance(value, int)):
        _refuse(fault, name, f"{value!r} is no {type(highest).__name__}", lowest, highest)
    if isinstance(value, bool) or not lowest <= value <= highest:
        _refuse(fault, name, f"{value} is out of bounds", lowest, highest)


def _refuse(fault: Any, name: str, why: str, lowest: Any, highest: Any) -> None:
    raise PlanError(f"build {fault.kind}: parameter {name!r}", why=why, todo=f"choose {lowest} to {highest}")
