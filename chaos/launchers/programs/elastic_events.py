"""How the launcher's programs report, and how they die with the process that started them. Standard library only."""

import ctypes
import json
import os
import signal
import time

_PR_SET_PDEATHSIG = 1


def tell(what, **data):
    """Appends one event to the file that ``CHAOS_EVENTS`` names, in one write."""
    line = json.dumps({"what": what, "at": time.monotonic(), "data": data}) + "\n"
    descriptor = os.open(os.environ["CHAOS_EVENTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def die_with_parent(expected=None):
    """Has the kernel kill this process when its parent dies, however that happens. ``expected``: the pid it must still have."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if expected is not None and os.getppid() != expected:
        os._exit(1)


def stat(pid):
    """State letter and start time in clock ticks of a process, or ``("gone", 0)``."""
    try:
        with open("/proc/{}/stat".format(pid)) as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return "gone", 0
    return fields[0], int(fields[19])


def ending(code):
    """An exit code as Python gives it, as the two fields of an event."""
    if code is not None and code < 0:
        try:
            return {"exit_status": None, "signal": signal.Signals(-code).name}
        except ValueError:
            return {"exit_status": None, "signal": str(-code)}
    return {"exit_status": code, "signal": ""}
