"""Brings what nodes saw to the one clock on which durations are measured."""

from __future__ import annotations

from chaos.model.guards import ClockReading

_UNMEASURED_ERROR = 60.0
"""Seconds by which an event may be off whose node clock was never measured: it keeps its place, but proves no duration."""


class Clocks:
    """The measured offsets, by node and boot."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], ClockReading] = {}

    def learn(self, reading: ClockReading) -> None:
        """Takes a new measurement; it replaces an older one of the same boot."""
        self._readings[reading.node, reading.boot_id] = reading

    def knows(self, node: str, boot_id: str) -> bool:
        """Whether this boot of the node was measured."""
        return (node, boot_id) in self._readings

    def controller_time(self, node: str, boot_id: str, at: float, *, arrived: float) -> tuple[float, float]:
        """A moment of the node's clock on the controller's clock, and how far it may be off, both in seconds."""
        reading = self._readings.get((node, boot_id))
        if reading is None:
            return arrived, _UNMEASURED_ERROR
        return at - reading.offset, reading.error
