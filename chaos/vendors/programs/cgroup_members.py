"""Moves processes into and out of a cgroup of ours. Runs on a node; stands alone.

``join CGROUP PID STARTED``: this very process moves in. ``leave CGROUP OLD ROOT``: all move back to where they came from, or to the
root when that is gone, and the cgroup is removed; one that is not there is done.
"""

import errno
import os
import sys
import time


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


def join(cgroup, pid, start):
    """Only the process that was meant."""
    if started(pid) != start:
        sys.exit("process %s is another one now" % pid)
    move(pid, cgroup)
    if pid not in members(cgroup) and os.path.exists("/proc/" + pid):
        sys.exit("process %s did not move" % pid)


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


{"join": join, "leave": leave}[sys.argv[1]](*sys.argv[2:])
