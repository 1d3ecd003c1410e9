"""Long work: in a session of its own, found again by name from its folder, ended with everything below it."""

import json
import os
import subprocess
import sys
import time
from typing import Any, Dict, List

from . import processes
from .files import replace
from .homes import Home

_MARK = "CHAOS_JOB"
"""In the environment of all that a job starts: a worker whose launcher was killed is found by it."""


def start(home: Home, job: Dict[str, Any], folder: str = "jobs") -> Dict[str, Any]:
    """Starts a program under its name; a name that runs is left as it is."""
    name = str(job["name"])
    running = state(home, name, folder)
    if running["is_running"]:
        return running
    place = home.made(folder, name)
    for old in ("state", "exit"):
        if os.path.exists(os.path.join(place, old)):
            os.unlink(os.path.join(place, old))
    for file in job.get("files", []):
        path = home.fill(file["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace(path, file["content"].encode(), int(file.get("mode", 0o644)))
    _launch(home, job, place)
    return state(home, name, folder)


def _launch(home: Home, job: Dict[str, Any], place: str) -> None:
    environment = {key: home.fill(str(value)) for key, value in job.get("environment", {}).items()}
    spec = {
        "argv": home.filled(job["argv"]),
        "environment": dict(environment, CHAOS_EVENTS=events_path(home, job, place), **{_MARK: place}),
        "directory": home.fill(job.get("directory") or place),
        "output": home.fill(job.get("output") or "") or os.path.join(place, "output"),
    }
    replace(os.path.join(place, "spec"), json.dumps(spec).encode(), 0o600)
    keeper = subprocess.Popen(
        [sys.executable, "-S", "-E", *entry(), "keep", place],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )
    deadline = time.monotonic() + 5.0
    while not os.path.exists(os.path.join(place, "state")) and time.monotonic() < deadline and keeper.poll() is None:
        time.sleep(0.005)


def entry() -> List[str]:
    """How this very program is started again: it is always run as one archive."""
    return [os.path.abspath(sys.argv[0])]


def events_path(home: Home, job: Dict[str, Any], place: str) -> str:
    """The file to which the program appends its events."""
    return home.fill(str(job.get("events") or "")) or os.path.join(place, "events")


def keep(place: str) -> None:
    """Runs the program, waits, and keeps its exit status. A process of its own, so that nobody else has to live as long."""
    with open(os.path.join(place, "spec"), "rb") as file:
        spec = json.loads(file.read())
    os.makedirs(spec["directory"], exist_ok=True)
    with open(spec["output"], "ab") as output:
        try:
            child = subprocess.Popen(
                spec["argv"], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=spec["directory"],
                env=dict(os.environ, **spec["environment"]), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            output.write(("cannot be started: %s\n" % error).encode())
            output.flush()
            _tell(place, os.getpid())
            replace(os.path.join(place, "exit"), b"127")
            return
    _tell(place, child.pid)
    code = child.wait()
    replace(os.path.join(place, "exit"), str(code).encode())


def _tell(place: str, pid: int) -> None:
    document = {
        "pid": pid,
        "started": processes.started(pid),
        "keeper": os.getpid(),
        "keeper_started": processes.started(os.getpid()),
    }
    replace(os.path.join(place, "state"), json.dumps(document).encode())


def state(home: Home, name: str, folder: str = "jobs") -> Dict[str, Any]:
    """Whether it runs, and how it ended; an exit status that nobody saw is None."""
    place = home.at(folder, name)
    seen = _document(os.path.join(place, "state"))
    pid, started = int(seen.get("pid", 0)), int(seen.get("started", 0))
    is_running = pid > 0 and processes.is_alive(pid, started)
    exit_status = None
    if not is_running:
        try:
            with open(os.path.join(place, "exit"), "rb") as file:
                exit_status = int(file.read())
        except (OSError, ValueError):
            exit_status = None
    return {
        "name": name, "exists": bool(seen), "is_running": is_running, "pid": pid, "started": started, "exit_status": exit_status,
        "output_tail": "" if is_running else _tail(place),
    }  # fmt: skip


def _document(path: str) -> Dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return dict(json.loads(file.read()))
    except (OSError, ValueError):
        return {}


def _tail(place: str) -> str:
    spec = _document(os.path.join(place, "spec"))
    try:
        with open(str(spec.get("output", "")), "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 2000))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def stop(home: Home, name: str, grace: float, folder: str = "jobs") -> Dict[str, Any]:
    """Ends the program and everything that it started, also what outlived its parent."""
    seen = state(home, name, folder)
    if seen["is_running"]:
        processes.end_tree(seen["pid"], seen["started"], grace)
        deadline = time.monotonic() + 1.0
        while not os.path.exists(home.at(folder, name, "exit")) and time.monotonic() < deadline:
            time.sleep(0.01)
    processes.kill(processes.marked("%s=%s" % (_MARK, home.at(folder, name))))
    return state(home, name, folder)


def names(home: Home, folder: str = "jobs") -> List[str]:
    """All programs that were ever started here."""
    place = home.at(folder)
    return sorted(os.listdir(place)) if os.path.isdir(place) else []
