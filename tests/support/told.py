"""Keeps what watches of the agent tell."""

from __future__ import annotations


class Told(list):
    """Keeps what a watch tells."""

    def __call__(self, kind, body, at=0.0):
        self.append((kind, body))

    def take(self):
        """What was told since the last time."""
        kept, self[:] = list(self), []
        return kept


def gaps(told):
    """The gaps among it."""
    return [body for kind, body in told if kind == "watch.gap"]
