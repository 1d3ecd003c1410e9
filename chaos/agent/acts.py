"""Performs acts. Each answer says how it went; nothing here is ever given to a shell."""

import errno
import os
import shutil
import signal
import subprocess
import time
from typing import Any, Callable, Dict, List, Optional

from . import consult, processes
from .files import replace
from .homes import Home

Answer = Dict[str, Any]
MOST_OUTPUT = 4 * 1024 * 1024


def done(**fields: Any) -> Answer:
    """An answer of an act that did what it names."""
    return {
        "exit_status": 0,
        "stdout": "",
        "stderr": "",
        "signal": "",
        "timed_out": False,
        "error": "",
        "is_done": True,
        **fields,
    }


def failed(error: str, **fields: Any) -> Answer:
    """An answer of an act that did not."""
    return done(exit_status=None, error=error, is_done=False, **fields)


def perform(act: Dict[str, Any], home: Home, deadline: Optional[float] = None) -> Answer:
    """One act; operating-system errors become answers. ``deadline``: seconds that it may take at most."""
    begun = time.monotonic()
    performer = _PERFORMERS.get(str(act.get("act")))
    if performer is None:
        return failed("this agent does not know the act %r" % act.get("act"))
    try:
        answer = performer(act, home, deadline)
    except OSError as error:
        answer = failed("%s: %s" % (error.filename or act.get("act"), os.strerror(error.errno) if error.errno else error))
    except Exception as error:
        answer = failed("the act is malformed: %s: %s" % (type(error).__name__, error))
    answer["took"] = time.monotonic() - begun
    return answer


def perform_all(acts: List[Dict[str, Any]], keep_going: bool, home: Home, deadline: Optional[float] = None) -> List[Answer]:
    """Acts in order; without ``keep_going`` they end at the first that failed."""
    end = None if deadline is None else time.monotonic() + deadline
    answers: List[Answer] = []
    for act in acts:
        answers.append(perform(act, home, None if end is None else max(0.1, end - time.monotonic())))
        if not answers[-1]["is_done"] and not keep_going:
            break
    return answers


def _run(act: Dict[str, Any], home: Home, deadline: Optional[float]) -> Answer:
    limit = float(act.get("timeout", 10.0))
    limit = limit if deadline is None else min(limit, deadline)
    child = subprocess.Popen(
        home.filled(act["argv"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, **act.get("environment", {})),
        start_new_session=True,
    )
    try:
        out, err = child.communicate(act.get("stdin", "").encode(), timeout=limit)
    except subprocess.TimeoutExpired:
        tree = [(pid, processes.started(pid)) for pid in processes.descendants(child.pid)]
        _kill_group(child.pid)
        is_gone = processes.kill(tree)
        out, err = _rest(child)
        words = "killed after %.3g s" % limit
        return failed(words, timed_out=True, is_still_running=not is_gone, stdout=_text(out), stderr=_text(err))
    code = child.returncode
    ended = done(stdout=_text(out), stderr=_text(err), exit_status=code if code >= 0 else None)
    if code < 0:
        ended["signal"] = signal.Signals(-code).name
    ended["is_done"] = code in act.get("accepts", [0])
    return ended


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _rest(child: "subprocess.Popen[bytes]") -> Any:
    try:
        return child.communicate(timeout=0.5)
    except subprocess.TimeoutExpired:
        for stream in (child.stdout, child.stderr, child.stdin):
            if stream:
                stream.close()
        return b"", b""


def _text(data: bytes) -> str:
    return data[-MOST_OUTPUT:].decode("utf-8", "replace")


def _write(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    path = home.fill(act["path"])
    os.makedirs(os.path.dirname(path) or "/", exist_ok=True)
    if act.get("append") or not _is_replaceable(path):
        with open(path, "ab", buffering=0) as file:
            file.write(act["content"].encode())
        return done()
    replace(path, act["content"].encode(), int(act.get("mode", 0o644)))
    return done()


def _is_replaceable(path: str) -> bool:
    """A device, a FIFO or a kernel file is written to, never replaced."""
    return not os.path.exists(path) or (os.path.isfile(path) and not path.startswith(("/sys/", "/proc/")))


def _remove(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    path = home.fill(act["path"])
    if os.path.isdir(path) and not os.path.islink(path):
        if path.startswith("/sys/fs/cgroup/"):
            os.rmdir(path)
        else:
            shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    return done()


def _copy(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    source, target = home.fill(act["source"]), home.fill(act["target"])
    draft = target + ".chaos-draft"
    try:
        shutil.copy2(source, draft)
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)
    return done()


def _truncate(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    os.truncate(home.fill(act["path"]), int(act["size"]))
    return done()


def _signal(act: Dict[str, Any], _home: Home, _deadline: Optional[float]) -> Answer:
    pid, start = int(act["pid"]), int(act["started"])
    number = getattr(signal, act["signal"])
    if not processes.is_alive(pid, start):
        return done() if act.get("gone_is_done", True) else failed("process %d started at tick %d is gone" % (pid, start))
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return done() if act.get("gone_is_done", True) else failed("process %d is gone" % pid)
    return done()


def _spawn(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    from . import jobs

    state = jobs.start(home, dict(act, files=[], events=""), folder="spawned")
    return done() if state["is_running"] or state["exit_status"] == 0 else failed(state["output_tail"] or "it ended at once")


def _stop(act: Dict[str, Any], home: Home, _deadline: Optional[float]) -> Answer:
    from . import jobs

    state = jobs.stop(home, act["name"], float(act.get("grace", 2.0)), folder="spawned")
    return failed("it still runs") if state["is_running"] else done()


def _consult(act: Dict[str, Any], home: Home, deadline: Optional[float]) -> Answer:
    import json

    subject = consult.SUBJECTS.get(act["subject"])
    if subject is None:
        return failed("this agent knows nothing about %r" % act["subject"])
    return done(stdout=json.dumps(subject(dict(act.get("arguments", {})), home, deadline)))


def _power(_act: Dict[str, Any], _home: Home, _deadline: Optional[float]) -> Answer:
    return failed("power is acted on out of band, never by the node itself (%s)" % errno.errorcode[errno.EPERM])


_PERFORMERS: Dict[str, Callable[[Dict[str, Any], Home, Optional[float]], Answer]] = {
    "run": _run,
    "write": _write,
    "remove": _remove,
    "copy": _copy,
    "truncate": _truncate,
    "signal": _signal,
    "spawn": _spawn,
    "stop": _stop,
    "consult": _consult,
    "power": _power,
}
