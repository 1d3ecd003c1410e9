"""One thing that the agent looks at by itself; it says what changed since it looked last."""

from typing import Any, Callable, Dict

from .homes import Home

Tell = Callable[[str, Dict[str, Any]], None]


class Watch:
    """One thing that is looked at. ``look`` is called every ``period`` seconds."""

    def __init__(self, name: str, arguments: Dict[str, str], period: float, home: Home, tell: Tell) -> None:
        self.name = name
        self.arguments = arguments
        self.period = max(0.05, period)
        self.home = home
        self.tell = tell
        self.due = 0.0
        self.open()

    def open(self) -> None:
        """Takes the state from which changes are told."""

    def look(self) -> None:
        """Tells what changed."""

    def close(self) -> None:
        """Lets go of what is held open."""

    def forget(self) -> None:
        """Drops what a later watch of the same name would go on from."""
