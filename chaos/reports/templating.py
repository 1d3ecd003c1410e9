"""Jinja2 as reports use it: everything is escaped, an unknown name is an error, and hidden characters are shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from babel.dates import format_date
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from chaos.model.nodes import fold
from chaos.model.quantities import Duration, Percentage
from chaos.model.timeline import Timeline
from chaos.model.verdicts import Threshold
from chaos.reports.plain_text import fold_numbers, printable
from chaos.reports.texts import shapes, translations


def environment(language: str) -> Environment:
    """Templates of ``reports/templates`` in one language."""
    made = Environment(
        loader=FileSystemLoader(shapes() / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    made.filters |= {
        "apart_from": apart_from,
        "fold": fold,
        "numbers": fold_numbers,
        "seconds": seconds_text,
        "limit": limit_text,
        "moment": _moment(language),
    }
    return made


def _shown(value: Any) -> Any:
    return value if isinstance(value, Markup) else printable(str(value))


def seconds_text(number: float | None) -> str:
    """Seconds for people: milliseconds where they matter, minutes and hours where they are many."""
    if number is None:
        return "–"  # noqa: RUF001 - a dash for a reader
    if 0 < abs(number) < 0.0995:
        return f"{number * 1000:.3g} ms"
    if abs(number) < 120:
        return f"{number:.2f} s" if abs(number) < 10 else f"{number:.1f} s"
    whole, rest = divmod(round(number), 60)
    hours, minutes = divmod(whole, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def apart_from(details: Iterable[tuple[str, str]], recoveries: Iterable[Timeline]) -> tuple[tuple[str, str], ...]:
    """The details that are not about one drill: those stand beside the picture of the drill."""
    drills = tuple(timeline.drill for timeline in recoveries)
    return tuple((label, text) for label, text in details if not label.startswith(drills))


def limit_text(threshold: Threshold) -> str:
    """A limit for people: ``≤ 5m``, ``≥ 99.995 %``. Times and shares are spelled, other units stay as they are."""
    relation = {"<=": "≤", ">=": "≥", "==": "="}.get(threshold.relation, threshold.relation)
    if threshold.unit == "s" and threshold.value >= 60:
        return f"{relation} {Duration.of(threshold.value)}"
    if threshold.unit in {"share", "fraction", "1"}:
        return f"{relation} {Percentage(Decimal(str(threshold.value)) * 100)}"
    return f"{relation} {threshold.value:.10g} {threshold.unit}".rstrip()


def _moment(language: str) -> Any:
    def moment(utc: str) -> str:
        try:
            when = datetime.fromisoformat(utc).astimezone(UTC)
        except ValueError:
            return utc
        locale = "en_GB" if language == "en" else language
        return f"{format_date(when, 'long', locale=locale)}, {when:%H:%M:%S} UTC"

    return moment
