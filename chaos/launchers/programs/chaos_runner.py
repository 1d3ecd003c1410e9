"""Runs the elastic agent of one node behind a health gate: a node whose training network or accelerator is gone leaves the job.

Without the gate an agent that still reaches the store would be counted into every new round, and its ranks would fail each time.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

LOST = {15: "lost", 16: "in need of a reset"}
"""NVML_ERROR_GPU_IS_LOST and NVML_ERROR_RESET_REQUIRED."""
NOT_SUPPORTED = 3
POLL = 0.1
LINK_PATIENCE = 2.0
"""Seconds without carrier before the node leaves: a shorter flap is ridden out by the transport's own retries."""
FIRST_CONTACT_WITHIN = 15.0
"""Seconds that the head may take to start."""
DEVICE_POLL = 0.3
SILENCE_PATIENCE = 10.0
"""Seconds without an answer of the management library before the node leaves: a driver that hangs is not a healthy one."""
REACH_PATIENCE = 4.0
"""Seconds without an answer over the training network before the node leaves."""


def tell(what, **data):
    """One event, in one write."""
    line = json.dumps({"what": what, "at": time.monotonic(), "data": data}) + "\n"
    with open(os.environ["CHAOS_EVENTS"], "ab", buffering=0) as file:
        file.write(line.encode())


class Reach:
    """Whether the head answers on the training network: a partitioned node has its carrier and nobody behind it."""

    def __init__(self, address, port):
        self._place = (address, port)
        self._last = time.monotonic() + FIRST_CONTACT_WITHIN
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self):
        while True:
            try:
                with socket.create_connection(self._place, timeout=1.0):
                    self._last = time.monotonic()
            except OSError:
                pass
            time.sleep(0.3)

    def reasons(self):
        """Empty while it was reached a moment ago."""
        return ["the training network does not reach the head"] if time.monotonic() - self._last > REACH_PATIENCE else []


class Devices:
    """The node's accelerators, asked in a thread of their own: a call into a sick driver may never come back."""

    def __init__(self, expected, library):
        self._expected = expected
        self._library = library
        self._before = {}
        self._reasons = self._ask()
        self._answered = time.monotonic()
        if self._is_watched():
            threading.Thread(target=self._follow, daemon=True).start()

    def _is_watched(self):
        return self._library is not None and self._expected > 0

    def _follow(self):
        while True:
            time.sleep(DEVICE_POLL)
            self._reasons = self._ask()
            self._answered = time.monotonic()

    def reasons(self):
        """Empty while every device answers. Where there is no management library nothing is known, and nothing is claimed."""
        silent = time.monotonic() - self._answered
        if self._is_watched() and silent > SILENCE_PATIENCE:
            return ["the accelerators' management library has not answered for %.0f s" % silent]
        return self._reasons

    def _ask(self):
        if not self._is_watched():
            return []
        if getattr(self, "_reasons", None):  # a device that was reset shows only to those who open the library anew
            self._library.nvmlShutdown()
            self._library.nvmlInit_v2()
        return [reason for reason in map(self._reason, range(self._expected)) if reason]

    def _reason(self, index):
        handle, count, warmth = ctypes.c_void_p(), ctypes.c_ulonglong(), ctypes.c_uint()
        code = self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        if code == 0:
            code = self._library.nvmlDeviceGetTotalEccErrors(handle, 1, 0, ctypes.byref(count))
        if code == NOT_SUPPORTED:  # without ECC another call still tells whether the device is there
            code = self._library.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(warmth))
        if code in LOST:
            return "accelerator %d is %s" % (index, LOST[code])
        if code not in (0, NOT_SUPPORTED):
            return "accelerator %d cannot be read (NVML status %d)" % (index, code)
        before = self._before.setdefault(index, count.value)
        if count.value > before:
            return "accelerator %d has %d new uncorrectable errors" % (index, count.value - before)
        return ""


def management_library():
    """NVML, or None where it cannot be loaded or started."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else library


class Gate:
    """What the node must have to take part."""

    def __init__(self, interface, devices, reach, place="/sys/class/net"):
        self._reach = reach
        self._place = "%s/%s/" % (place, interface)
        self._interface = interface
        self._devices = devices
        self._down_since = None

    def _read(self, name):
        try:
            with open(self._place + name) as file:
                return file.read().strip()
        except OSError:
            return ""

    def reasons(self):
        """Why the node may not take part; empty when it may."""
        reach = self._reach.reasons() if self._reach else []
        return self._link() + reach + self._devices.reasons()

    def _link(self):
        if self._read("carrier") == "1" and self._read("operstate") in ("up", "unknown"):
            self._down_since = None
            return []
        now = time.monotonic()
        self._down_since = self._down_since or now
        return ["%s has no carrier" % self._interface] if now - self._down_since >= LINK_PATIENCE else []


def end_tree(pid):
    """Kills a process and everything below it at once: a node that leaves has nothing to say any more."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
            except OSError:
                continue
    tree = [pid]
    for each in tree:
        tree += children.get(each, [])
    for each in tree:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


def supervise(given):
    """Until the job is finished: the agent runs while the gate lets it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    time.sleep(given["head_start"])
    reach = Reach(*given["beacon"]) if given["beacon"] else None
    gate = Gate(given["interface"], Devices(given["devices"], management_library()), reach)
    agent, is_out, begun = None, False, 0.0
    while True:
        reasons = gate.reasons()
        if reasons and not is_out:
            is_out = True
            tell("gate.out", reasons=reasons)
            if agent is not None:
                end_tree(agent.pid)
                agent.wait()
                tell("elastic.ended", exit_status=agent.returncode)
                agent = None
        elif not reasons and is_out:
            is_out = False
            tell("gate.in")
        if agent is None and not is_out and time.monotonic() - begun > 1.0:
            begun = time.monotonic()
            agent = subprocess.Popen([sys.executable, *given["agent"]])
        if agent is not None and agent.poll() is not None:
            tell("elastic.ended", exit_status=agent.returncode)
            if agent.returncode == 0:
                return 0
            agent = None
        time.sleep(POLL)


if __name__ == "__main__":
    sys.exit(supervise(json.loads(sys.argv[1])))
