"""Samples the state of a process for a good second and says as JSON how often it was stopped. Runs on a node; stands alone.

Arguments: its own name, pid, start time in clock ticks after boot.
"""

import json
import sys
import time

SPAN = 1.2
BETWEEN = 0.0073  # shares no multiple with the periods in use, so that no phase is missed


def state(pid, started):
    """The kernel's letter, or nothing when this very process is gone."""
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[0] if fields[19] == started and fields[0] not in "ZX" else ""


def main():
    """Counts samples until the span is over or the process is gone."""
    _, pid, started = sys.argv[1:]
    end = time.monotonic() + SPAN
    samples = stopped = 0
    while time.monotonic() < end:
        seen = state(pid, started)
        if not seen:
            break
        samples += 1
        stopped += seen in "Tt"
        time.sleep(BETWEEN)
    print(json.dumps({"exists": bool(state(pid, started)), "samples": samples, "stopped": stopped}))


main()
