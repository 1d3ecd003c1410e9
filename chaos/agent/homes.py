"""Where the agent keeps what: one folder per run, in memory where that is possible, so that a full disk cannot block an undo."""

import os
from typing import Any, Iterator, List


class Home:
    """The folder of one run on this node."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def at(self, *parts: str) -> str:
        """A path below the home."""
        return os.path.join(self.path, *parts)

    def made(self, *parts: str) -> str:
        """A folder below the home, created when missing."""
        place = self.at(*parts)
        os.makedirs(place, mode=0o700, exist_ok=True)
        return place

    def fill(self, text: str) -> str:
        """A text with ``{home}`` and ``{run}`` replaced."""
        return text.replace("{home}", self.path).replace("{run}", os.path.basename(self.path))

    def filled(self, words: List[Any]) -> List[str]:
        """Each of several texts, filled."""
        return [self.fill(str(word)) for word in words]


def parents() -> List[str]:
    """Folders in which homes may lie."""
    return ["/run/chaos", "/dev/shm/chaos", "/tmp/chaos-%d" % os.getuid()]


def all_homes() -> Iterator[Home]:
    """The homes of all runs on this node."""
    for parent in parents():
        if os.path.isdir(parent):
            for name in sorted(os.listdir(parent)):
                if os.path.isdir(os.path.join(parent, name)) and name != "payload":
                    yield Home(os.path.join(parent, name))
