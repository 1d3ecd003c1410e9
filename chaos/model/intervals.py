"""Spans of time as sets: union, intersection, difference and length.

Times are seconds on one clock. A span without length is kept: a fault that began and ended in the same tick is still a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """From ``start`` to ``end``; ``end`` is not before ``start``."""

    start: float
    end: float

    def __post_init__(self) -> None:
        if not self.start <= self.end:
            message = f"an interval cannot end ({self.end}) before it starts ({self.start})"
            raise ValueError(message)

    @property
    def length(self) -> float:
        """End minus start."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint intervals in order. Build with :meth:`of`, which merges what overlaps or touches."""

    intervals: tuple[Interval, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> Spans:
        """The union of intervals given as (start, end) in any order."""
        merged: list[Interval] = []
        for start, end in sorted(pairs):
            if merged and start <= merged[-1].end:
                merged[-1] = Interval(merged[-1].start, max(merged[-1].end, end))
            else:
                merged.append(Interval(start, end))
        return cls(tuple(merged))

    @property
    def total(self) -> float:
        """The length of all intervals together."""
        return sum(interval.length for interval in self.intervals)

    def __iter__(self) -> Iterator[Interval]:
        return iter(self.intervals)

    def __len__(self) -> int:
        return len(self.intervals)

    def __or__(self, other: Spans) -> Spans:
        return Spans.of((i.start, i.end) for i in (*self.intervals, *other.intervals))

    def __and__(self, other: Spans) -> Spans:
        found: list[tuple[float, float]] = []
        mine, theirs = list(self.intervals), list(other.intervals)
        left = right = 0
        while left < len(mine) and right < len(theirs):
            start, end = max(mine[left].start, theirs[right].start), min(mine[left].end, theirs[right].end)
            if start <= end:
                found.append((start, end))
            if mine[left].end < theirs[right].end:
                left += 1
            else:
                right += 1
        return Spans.of(found)

    def __sub__(self, other: Spans) -> Spans:
        left: list[tuple[float, float]] = []
        for interval in self.intervals:
            left += _cut(interval, other.intervals)
        return Spans.of(left)

    def clip(self, start: float, end: float) -> Spans:
        """The part between two times; an interval that only touches the window from outside is left out."""
        inside = (i for i in self.intervals if i.start < end and (i.end > start or start <= i.start))
        return Spans(tuple(Interval(max(i.start, start), min(i.end, end)) for i in inside))

    def contains(self, moment: float) -> bool:
        """Whether the moment lies in one of the intervals, edges included."""
        return any(i.start <= moment <= i.end for i in self.intervals)


def _cut(interval: Interval, holes: Iterable[Interval]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    start = interval.start
    for hole in holes:
        if hole.end <= start or hole.start >= interval.end:
            continue
        if hole.start > start:
            kept.append((start, hole.start))
        start = max(start, hole.end)
    if start < interval.end:
        kept.append((start, interval.end))
    return kept
