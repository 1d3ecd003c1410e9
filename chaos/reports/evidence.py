"""Slices of the record that a reader may want to see beside a verdict: its events, and what nodes wrote to their logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from chaos.model.encoding import encode_body
from chaos.model.events import Event
from chaos.model.history import History
from chaos.model.timeline import Timeline
from chaos.reports.plain_text import printable

_LONGEST = 400
"""Events in one slice; more is for the record itself."""


def event_slice(history: History, numbers: Iterable[int]) -> str:
    """These events as JSON lines, in order. What was left out at the end is counted."""
    wanted = frozenset(numbers)
    chosen = [event for event in history.events if event.sequence in wanted]
    lines = [_line(event) for event in chosen[:_LONGEST]]
    if len(chosen) > _LONGEST:
        lines.append(json.dumps({"left_out": len(chosen) - _LONGEST}))
    return "\n".join(lines)


def _line(event: Event) -> str:
    told = {"sequence": event.sequence, "utc": event.stamp.utc, "kind": event.body.kind, "body": encode_body(event.body)}
    return json.dumps(told, ensure_ascii=False)


def node_logs(history: History, timeline: Timeline | None = None) -> Mapping[str, str]:
    """Kernel log lines by node; with a timeline only those from a second before the fault to the last mark."""
    start, end = _window(timeline)
    logs: dict[str, list[str]] = {}
    for row in history.observations("kernel.line"):
        if start <= row.at <= end:
            mark = " [injected]" if row.data.get("injected") else ""
            logs.setdefault(row.node, []).append(f"{row.at:.6f} {printable(str(row.data.get('text', '')))}{mark}")
    return {node: "\n".join(lines) for node, lines in logs.items()}


def _window(timeline: Timeline | None) -> tuple[float, float]:
    moments = [mark.at for mark in timeline.marks.values() if mark.at is not None] if timeline else []
    return (min(moments) - 1.0, max(moments) + 1.0) if moments else (float("-inf"), float("inf"))
