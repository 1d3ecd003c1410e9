"""The picture of a recovery: phases on a line from the fault to full speed, and the marks T0..T11 beneath."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jinja2 import Environment
from markupsafe import Markup

from chaos.model.timeline import MARKS, MarkState, Timeline

WIDTH, LEFT, RIGHT = 720.0, 12.0, 708.0

COLOURS = {
    "T2": "#8a3324",
    "T3": "#b5603c",
    "T4": "#d39a6a",
    "T5": "#16324f",
    "T6": "#2a5783",
    "T7": "#4f7fae",
    "T8": "#86abd0",
    "T9": "#b9cfe5",
    "T10": "#9fc3a4",
    "T11": "#cfe3d1",
}
"""The phase that ends at a mark. Warm: finding; blue: mending; green: running again."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of the line, in seconds from the fault and in units of the picture."""

    mark: str
    colour: str
    start: float
    end: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Label:
    """A mark under the line: where it stands there, where on the line it points to, and what it says."""

    name: str
    state: str
    x: float
    points_to: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Picture:
    """A recovery, laid out."""

    timeline: Timeline
    phases: tuple[Phase, ...]
    labels: tuple[Label, ...]
    ticks: tuple[tuple[float, float], ...]
    undone_x: float | None
    undone_seconds: float | None
    is_cut: bool
    limit_x: float | None
    new_step_x: float | None
    fault_x: float


def span(timelines: Iterable[Timeline]) -> float:
    """Seconds that hold every recovery on one scale; at least one second.

    A drill that did not recover would press all others to the edge: it counts only where nothing recovered.
    """
    lines = tuple(timelines)
    recovered = tuple(timeline for timeline in lines if timeline.outcome == "recovered")
    return max((end for timeline in recovered or lines if (end := _end(timeline)) is not None), default=1.0) or 1.0


def _end(timeline: Timeline) -> float | None:
    moments = [timeline.since_fault(name) for name in MARKS]
    undone = _since(timeline, timeline.undone_at)
    return max((moment for moment in (*moments, undone) if moment is not None), default=None)


def _since(timeline: Timeline, at: float | None) -> float | None:
    start = timeline.marks["T0"].at
    return None if start is None or at is None else at - start


@dataclass(frozen=True, slots=True)
class Scale:
    """From seconds after the fault to a place in the picture; what lies beyond its end is drawn at its end."""

    first: float
    last: float

    def x(self, since: float) -> float:
        """The place of a moment."""
        share = (min(max(since, self.first), self.last) - self.first) / (self.last - self.first)
        return round(LEFT + share * (RIGHT - LEFT), 2)

    def maybe(self, since: float | None) -> float | None:
        """The place of a moment that may be unknown."""
        return None if since is None else self.x(since)


def draw(timeline: Timeline, seconds: float) -> Picture:
    """The layout of one recovery on a scale that holds this many seconds after the fault."""
    scale = Scale(min(0.0, timeline.since_fault("T1") or 0.0), seconds * 1.02)
    undone = _since(timeline, timeline.undone_at)
    return Picture(
        timeline=timeline,
        phases=_phases(timeline, scale),
        labels=tuple(_label(timeline, name, number, scale) for number, name in enumerate(MARKS)),
        ticks=tuple((tick, scale.x(tick)) for tick in _round_numbers(seconds)),
        undone_x=scale.maybe(undone),
        undone_seconds=undone,
        is_cut=undone is not None and undone > scale.last,
        limit_x=scale.x(timeline.limit_seconds) if timeline.limit_seconds <= seconds else None,
        new_step_x=scale.maybe(timeline.since_fault("T9")),
        fault_x=scale.x(0.0),
    )


def _label(timeline: Timeline, name: str, number: int, scale: Scale) -> Label:
    mark, since = timeline.marks[name], timeline.since_fault(name)
    place = round(LEFT + (RIGHT - LEFT) / len(MARKS) * (number + 0.5), 2)
    if mark.state is not MarkState.SEEN:
        since = None
    return Label(name, mark.state.value, place, scale.maybe(since), since)


def _phases(timeline: Timeline, scale: Scale) -> tuple[Phase, ...]:
    """The stretches between marks in their order; a mark that came earlier than one before it ends no stretch of its own."""
    phases: list[Phase] = []
    cursor = 0.0
    for name, colour in COLOURS.items():
        until = timeline.since_fault(name)
        if until is not None and until > cursor:
            left, right = scale.x(cursor), scale.x(until)
            phases.append(Phase(name, colour, cursor, until, left, round(right - left, 2)))
            cursor = until
    return tuple(phases)


def _round_numbers(seconds: float) -> tuple[float, ...]:
    steps = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
    step = next((step for step in steps if seconds / step <= 8), 7200)
    return tuple(step * number for number in range(int(seconds / step) + 1))


def svg(environment: Environment, timeline: Timeline, seconds: float | None = None) -> Markup:
    """The picture as SVG, complete in itself. ``seconds``: the scale; by default its own."""
    picture = draw(timeline, seconds or span([timeline]))
    return Markup(environment.get_template("timeline.svg").render(picture=picture, width=WIDTH))  # noqa: S704 - the template escapes
