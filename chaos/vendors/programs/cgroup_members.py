"""Moves processes into and out of a cgroup of ours. Runs on a node; stands alone. Its own name is its first argument.

``squeeze CGROUP PID STARTED BYTES``: this very process moves in, and a small one of ours beside it uses up the limit of so many bytes.
The kernel then kills the largest process there; ours is small and ends itself once the other is gone.
``leave CGROUP OLD ROOT``: all move back to where they came from, or to the root when that is gone, and the cgroup is removed; one that
is not there is done.
"""

import errno
import mmap
import os
import signal
import sys
import time

_WITHIN = 5.0


def started(pid):
    """The start time of a process in clock ticks after boot, as text."""
    with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[19]


def move(pid, cgroup):
    """Moves one process; one that has ended meanwhile needs no moving."""
    try:
        with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(pid)
    except OSError as error:
        if error.errno != errno.ESRCH:
            raise


def members(cgroup):
    """The pids in a cgroup."""
    with open(os.path.join(cgroup, "cgroup.procs"), encoding="ascii") as file:
        return file.read().split()


def is_there(pid, start):
    """Whether this very process still runs."""
    try:
        return started(pid) == start
    except OSError:
        return False


def squeeze(cgroup, pid, start, size):
    """Only the process that was meant. What becomes of it is for others to see."""
    if not is_there(pid, start):
        sys.exit("process %s is gone or another one now" % pid)
    move(pid, cgroup)
    child = os.fork()
    if child == 0:
        use_up(cgroup, pid, start, int(size))
        os._exit(0)
    end = time.monotonic() + _WITHIN
    while time.monotonic() < end and os.waitpid(child, os.WNOHANG)[0] == 0:
        time.sleep(0.02)
    if time.monotonic() >= end:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def use_up(cgroup, pid, start, size):
    """Touches page after page, a little more than the limit lets it."""
    move(str(os.getpid()), cgroup)
    with mmap.mmap(-1, size + (4 << 20)) as memory:
        for place in range(0, len(memory), mmap.PAGESIZE):
            if not is_there(pid, start):
                return
            memory[place] = 1


def leave(cgroup, old, root):
    """A cgroup empties a moment after its last process died."""
    for _ in range(50):
        if not os.path.isdir(cgroup):
            return
        for pid in members(cgroup):
            move(pid, old if os.path.isdir(old) else root)
        try:
            os.rmdir(cgroup)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(0.05)
    sys.exit("%s is still in use" % cgroup)


{"squeeze": squeeze, "leave": leave}[sys.argv[2]](*sys.argv[3:])
