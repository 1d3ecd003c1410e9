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

LOST = 15
POLL = 0.1
LINK_PATIENCE = 2.0
"""Seconds without carrier before the node leaves: a shorter flap is ridden out by the transport's own retries."""
FIRST_CONTACT_WITHIN = 15.0
"""Seconds that the head may take to start."""
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


class Gate:
    """What the node must have to take part."""

    def __init__(self, interface, devices, reach):
        self._reach = reach
        self._place = "/sys/class/net/%s/" % interface
        self._interface = interface
        self._devices = devices
        self._down_since = None
        self._library = self._load()
        self._before = self._errors()
        self._asked = 0.0
        self._device_reasons = []

    @staticmethod
    def _load():
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return None
        return None if library.nvmlInit_v2() else library

    def _errors(self):
        """Uncorrectable errors by device; None for a device that is lost."""
        found = {}
        for index in range(self._devices if self._library else 0):
            handle, count = ctypes.c_void_p(), ctypes.c_ulonglong()
            code = self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
            code = code or self._library.nvmlDeviceGetTotalEccErrors(handle, 1, 0, ctypes.byref(count))
            found[index] = None if code == LOST else count.value
        return found

    def _read(self, name):
        try:
            with open(self._place + name) as file:
                return file.read().strip()
        except OSError:
            return ""

    def reasons(self):
        """Why the node may not take part; empty when it may."""
        return self._link() + self._reach.reasons() + self._accelerators()

    def _link(self):
        if self._read("carrier") == "1" and self._read("operstate") in ("up", "unknown"):
            self._down_since = None
            return []
        now = time.monotonic()
        self._down_since = self._down_since or now
        return ["%s has no carrier" % self._interface] if now - self._down_since >= LINK_PATIENCE else []

    def _accelerators(self):
        now = time.monotonic()
        if self._library is None or now - self._asked < 0.3:
            return self._device_reasons
        self._asked = now
        reasons = []
        for index, count in self._errors().items():
            before = self._before.get(index)
            if count is None:
                reasons.append("accelerator %d is lost" % index)
            elif before is not None and count > before:
                reasons.append("accelerator %d has %d new uncorrectable errors" % (index, count - before))
            elif before is None:
                self._before[index] = count
        self._device_reasons = reasons
        return reasons


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
    gate = Gate(given["interface"], given["devices"], Reach(*given["beacon"]))
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
