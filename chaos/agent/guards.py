"""The undo that waits on the node: a process of its own that needs neither the controller nor the daemon.

Three files of one guard: ``<id>.json`` what to undo and until when, ``<id>.lease`` until when the controller is believed to be there,
``<id>.state`` what became of it. Times are CLOCK_MONOTONIC, so that a fault of the clock cannot move them.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from typing import Any, Dict, List

from . import acts, processes
from .files import replace
from .homes import Home
from .jobs import entry

_TRIES = 3
_BETWEEN_TRIES = 0.5
_POLL = 0.1
FINAL = ("fired", "disarmed")
UNDONE = ("armed", "dead", "undoing")
"""States in which an undo is still to come."""

State = Dict[str, Any]


class Refused(Exception):
    """The guard cannot be had like this."""


def arm(home: Home, guard: Dict[str, Any]) -> State:
    """Writes the undo down and starts the process that waits. The undo comes last: without it there is no guard to revive.

    Raises:
        Refused: a guard of this name still has something to undo, or the process did not start.
    """
    name, now = _name(guard["id"]), time.monotonic()
    fence = int(guard.get("fence", 0))
    seen = state(home, name)
    if seen is not None and seen["state"] in UNDONE:
        raise Refused("guard %s is armed already" % name)
    home.made("guards")
    _write(home, name, "state", {"state": "arming"})
    _write(home, name, "lease", {"ends": now + float(guard["lease"]), "fence": fence})
    _write(home, name, "json", {"id": name, "undo": guard["undo"], "ends": now + float(guard["deadline"]), "armed_at": now})
    _start(home, name)
    return _await(home, name, ("armed", "undoing", "fired"), 5.0)


def _start(home: Home, name: str) -> None:
    subprocess.Popen(
        [sys.executable, "-S", "-E", *entry(), "guard", home.path, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )


def _await(home: Home, name: str, states: Any, span: float) -> State:
    deadline = time.monotonic() + span
    while True:
        seen = state(home, name)
        if seen is not None and seen["state"] in states:
            return dict(seen)
        if time.monotonic() > deadline:
            raise Refused("guard %s is %s" % (name, seen["state"] if seen else "gone"))
        time.sleep(0.005)


def renew(home: Home, name: str, lease: float, fence: int) -> State:
    """Extends the lease. A controller with a lower number than was seen is refused: it has been replaced."""
    seen = _must(home, name)
    held = _read(home, name, "lease")
    if fence < int(held.get("fence", 0)):
        raise Refused("guard %s belongs to controller %s, not %d" % (name, held.get("fence"), fence))
    if seen["state"] == "armed":
        _write(home, name, "lease", {"ends": time.monotonic() + lease, "fence": fence})
    return seen


def fire(home: Home, name: str) -> State:
    """Lets the guard undo now, and waits until it has."""
    seen = _must(home, name)
    if seen["state"] in FINAL:
        return seen
    _write(home, name, "lease", dict(_read(home, name, "lease"), ends=0.0))
    if seen["state"] == "dead":
        _start(home, name)
    return _await(home, name, ("fired",), 60.0)


def disarm(home: Home, name: str) -> State:
    """Ends the wait without an undo, and forgets the guard. What to undo goes first: no other process can take over after that."""
    seen = state(home, name)
    if seen is None:
        return {"id": name, "state": "disarmed", "pid": 0, "started": 0, "why": "no such guard", "failures": []}
    _drop(home, name, "json")
    if seen["state"] == "armed":
        processes.end_tree(seen["pid"], seen["started"], 0.2)
    for ending in ("lease", "state", "told", "lock"):
        _drop(home, name, ending)
    return dict(seen, state="disarmed")


def states(home: Home) -> List[State]:
    """All guards of a run."""
    place = home.at("guards")
    names = sorted(name[:-5] for name in os.listdir(place) if name.endswith(".json")) if os.path.isdir(place) else []
    found = [state(home, name) for name in names]
    return [each for each in found if each is not None]


def state(home: Home, name: str) -> Any:
    """One guard; ``dead`` when it should wait and no process does."""
    if not os.path.exists(home.at("guards", "%s.json" % _name(name))):
        return None
    seen = dict({"id": name, "state": "dead", "pid": 0, "started": 0, "why": "", "failures": []}, **_read(home, name, "state"))
    if seen["state"] in ("armed", "undoing") and not processes.is_alive(int(seen["pid"]), int(seen["started"])):
        seen["state"] = "dead"
    return seen


def untold(home: Home) -> List[State]:
    """Guards that undid and of which nobody has said so yet: no daemon may have run when they did."""
    return [
        each for each in states(home) if each["state"] == "fired" and _read(home, each["id"], "told").get("at") != each.get("at")
    ]


def mark_told(home: Home, seen: State) -> None:
    """Keeps this undo from being reported again, also by the next daemon; a later undo of the same guard is another one."""
    _write(home, seen["id"], "told", {"at": seen.get("at")})


def revive(home: Home) -> None:
    """Starts guards again whose process died before they were done: an undo is never lost with its process."""
    for seen in states(home):
        if seen["state"] == "dead":
            _start(home, seen["id"])


def wait(home: Home, name: str) -> None:
    """The guard itself: waits for the lease or the deadline to run out, then undoes.

    One process of a guard holds its lock; another that was started because this one seemed dead takes over when it really is. A
    record lock, because programs that the undo starts must not inherit it.
    """
    with open(home.at("guards", "%s.lock" % _name(name)), "wb") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        seen = state(home, name)
        if seen is not None and seen["state"] in ("arming", "dead"):
            _wait(home, name)


def _wait(home: Home, name: str) -> None:
    me = {"id": name, "pid": os.getpid(), "started": processes.started(os.getpid())}
    spec = _read(home, name, "json")
    _write(home, name, "state", dict(me, state="armed"))
    while os.path.exists(home.at("guards", "%s.json" % name)):
        now = time.monotonic()
        lease = float(_read(home, name, "lease").get("ends", 0.0))
        if now >= lease or now >= float(spec["ends"]):
            _undo_now(home, spec, me, lease, now)
            return
        time.sleep(min(_POLL, max(0.01, lease - now)))


def _undo_now(home: Home, spec: Dict[str, Any], me: State, lease: float, now: float) -> None:
    name = me["id"]
    why = "asked to" if lease == 0.0 else "the lease ran out" if now >= lease else "the deadline passed"
    _write(home, name, "state", dict(me, state="undoing", why=why))
    failures = undo(spec["undo"], home)
    _write(home, name, "state", dict(me, state="fired", why=why, failures=failures, at=time.monotonic()))


def undo(script: Dict[str, Any], home: Home) -> List[str]:
    """Tries every act, those that failed again; the words of those that never were done."""
    left = list(script.get("acts", []))
    words: List[str] = []
    for attempt in range(_TRIES):
        answers = [(act, acts.perform(act, home)) for act in left]
        left = [act for act, answer in answers if not answer["is_done"]]
        words = [str(answer["error"] or answer["stderr"])[-200:] for _, answer in answers if not answer["is_done"]]
        if not left:
            return []
        if attempt + 1 < _TRIES:
            time.sleep(_BETWEEN_TRIES)
    return words


def _drop(home: Home, name: str, ending: str) -> None:
    path = home.at("guards", "%s.%s" % (name, ending))
    if os.path.exists(path):
        os.unlink(path)


def _must(home: Home, name: str) -> State:
    seen = state(home, name)
    if seen is None:
        raise Refused("there is no guard %s" % name)
    return dict(seen)


def _name(name: str) -> str:
    if not name or "/" in name or name.startswith("."):
        raise Refused("%r cannot be the name of a guard" % name)
    return name


def _write(home: Home, name: str, ending: str, document: Dict[str, Any]) -> None:
    replace(home.at("guards", "%s.%s" % (name, ending)), json.dumps(document).encode(), 0o600)


def _read(home: Home, name: str, ending: str) -> Dict[str, Any]:
    try:
        with open(home.at("guards", "%s.%s" % (name, ending)), "rb") as file:
            return dict(json.loads(file.read()))
    except (OSError, ValueError):
        return {}
