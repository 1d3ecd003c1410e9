"""Processes by pid and start time, so that a reused pid is never mistaken for the one meant."""

import os
import signal
import time
from typing import Dict, List, Optional, Tuple

_AFTER_KILL = 2.0
"""Seconds that a killed process is given to go. One that waits for a device or a file server does not go."""


def stat(pid: int) -> Optional[Tuple[str, int, int]]:
    """State, parent and start time (clock ticks after boot) of a process, or None when there is none."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    fields = text[text.rfind(")") + 2 :].split()
    return fields[0], int(fields[1]), int(fields[19])


def started(pid: int) -> int:
    """The start time of a process; 0 when there is none."""
    seen = stat(pid)
    return seen[2] if seen else 0


def is_alive(pid: int, start: int) -> bool:
    """Whether this very process runs; a zombie does not."""
    seen = stat(pid)
    return seen is not None and seen[2] == start and seen[0] not in "ZX"


def descendants(pid: int) -> List[int]:
    """The process and all below it, parents first."""
    children: Dict[int, List[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            seen = stat(int(name))
            if seen:
                children.setdefault(seen[1], []).append(int(name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def send(pid: int, number: int) -> None:
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def end_tree(pid: int, start: int, grace: float) -> bool:
    """Ends a process and everything below it: TERM, then KILL. True when nothing of it runs any more."""
    if not is_alive(pid, start):
        return True
    tree = [(each, started(each)) for each in descendants(pid)]
    for member, _ in tree:
        send(member, signal.SIGTERM)
        send(member, signal.SIGCONT)
    _await_end(tree, grace)
    return kill(tree + [(member, started(member)) for member in descendants(pid) if (member, started(member)) not in tree])


def kill(tree: List[Tuple[int, int]]) -> bool:
    """Kills these very processes. True when none runs any more; one that waits inside the kernel can outlive its kill."""
    for member, begun in tree:
        if is_alive(member, begun):
            send(member, signal.SIGKILL)
    return _await_end(tree, _AFTER_KILL)


def marked(mark: str) -> List[Tuple[int, int]]:
    """Pid and start time of each process whose environment holds this word: whoever its parent is by now."""
    word, found = mark.encode(), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/environ" % name, "rb") as file:
                    is_marked = word in file.read().split(b"\0")
            except OSError:
                continue
            if is_marked:
                found.append((int(name), started(int(name))))
    return found


def _await_end(tree: List[Tuple[int, int]], span: float) -> bool:
    deadline = time.monotonic() + span
    while any(is_alive(pid, begun) for pid, begun in tree):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
