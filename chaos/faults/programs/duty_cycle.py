"""Stops a process for a share of every period. Runs on a node; stands alone.

Arguments: pid, start time in clock ticks after boot, share, period in seconds. Ends when the process is gone or at SIGTERM, and leaves it
running in any case.
"""

import os
import signal
import sys
import time


def is_there(pid, started):
    """Whether this very process runs, so that a pid that was used again is never stopped."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == started and fields[0] not in "ZX"


def send(pid, started, number):
    """A signal, unless the process is gone."""
    if not is_there(pid, started):
        sys.exit(0)
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        sys.exit(0)


def main():
    """The cycle. SIGTERM raises SystemExit, so the last act is always to let the process run."""
    pid, started, share, period = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    try:
        while True:
            send(pid, started, signal.SIGSTOP)
            time.sleep(share * period)
            send(pid, started, signal.SIGCONT)
            time.sleep((1 - share) * period)
    finally:
        send(pid, started, signal.SIGCONT)


main()
