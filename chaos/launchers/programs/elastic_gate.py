"""The node's health gate: whether its training network and its devices are fit to take part. Standard library only."""

import ctypes
import threading
import time

_LOST = {15: "lost", 16: "in need of a reset"}  # NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED
_UNCORRECTED, _VOLATILE, _TEMPERATURE_GPU = 1, 0, 0
_SILENT_AFTER = 10.0  # seconds without an answer of the management library


class Links:
    """The training interfaces by name."""

    def __init__(self, interfaces, root="/sys/class/net"):
        self.interfaces, self.root = interfaces, root

    def reasons(self):
        """What is wrong now, by interface."""
        return [reason for reason in map(self._reason, self.interfaces) if reason]

    def _reason(self, interface):
        state = self._read(interface, "operstate")
        if state is None:
            return "link {} is absent".format(interface)
        if self._read(interface, "carrier") != "1" or state in ("down", "lowerlayerdown", "notpresent"):
            return "link {} is down".format(interface)
        return ""

    def _read(self, interface, name):
        try:
            with open("{}/{}/{}".format(self.root, interface, name)) as file:
                return file.read().strip()
        except OSError:  # the kernel refuses to read the carrier of an interface that is switched off
            return None


class Devices:
    """NVIDIA devices through NVML, asked in a thread of their own: a call into a sick driver may never come back."""

    def __init__(self, expected, watch_ecc):
        self.expected, self.watch_ecc = expected, watch_ecc
        self._found, self._at = [], time.monotonic()
        self._before = {}
        self._library = self._load() if expected else None
        self.about = "{} NVML devices".format(expected) if self._library else "devices are not checked: no NVML or none expected"
        if self._library:
            self._found = self._ask()
            threading.Thread(target=self._follow, daemon=True).start()

    def reasons(self):
        """What is wrong now, by device."""
        if self._library is None:
            return []
        silent = time.monotonic() - self._at
        if silent > _SILENT_AFTER:
            return ["NVML has not answered for {:.0f} s".format(silent)]
        return list(self._found)

    def _load(self):
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            return library if library.nvmlInit_v2() == 0 else None
        except (OSError, AttributeError):
            return None

    def _follow(self):
        while True:
            time.sleep(1.0 if self._found else 0.2)
            if self._found:  # a device that was reset shows only to those who open the library anew
                self._library.nvmlShutdown()
                self._library.nvmlInit_v2()
            self._found = self._ask()
            self._at = time.monotonic()

    def _ask(self):
        count = ctypes.c_uint()
        status = self._library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        if status != 0:
            return ["NVML answers with status {}".format(status)]
        found = [reason for reason in map(self._device, range(count.value)) if reason]
        if count.value < self.expected:
            found.append("{} of {} devices are there".format(count.value, self.expected))
        return found

    def _device(self, index):
        device, reading = ctypes.c_void_p(), ctypes.c_uint()
        status = self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device))
        status = status or self._library.nvmlDeviceGetTemperature(device, _TEMPERATURE_GPU, ctypes.byref(reading))
        if status in _LOST:
            return "device {} is {}".format(index, _LOST[status])
        return self._ecc(index, device) if self.watch_ecc else ""

    def _ecc(self, index, device):
        errors = ctypes.c_ulonglong()
        status = self._library.nvmlDeviceGetTotalEccErrors(device, _UNCORRECTED, _VOLATILE, ctypes.byref(errors))
        before = self._before.setdefault(index, errors.value)
        if status == 0 and errors.value > before:
            return "device {} has {} uncorrectable memory errors, {} at start".format(index, errors.value, before)
        return ""


class Gate:
    """Out at once for a device, for a link only after ``debounce`` seconds: a short flap is ridden out. In again after ``settle``."""

    def __init__(self, config):
        self.links = Links(config["interfaces"])
        self.devices = Devices(config["accelerators"], config["watch_ecc"])
        self.debounce, self.settle = config["debounce"], config["settle"]
        self.is_out = False
        self._down_since = self._good_since = None

    def reasons(self):
        """Why the node must be out now; empty: it may take part."""
        now = time.monotonic()
        links, devices = self.links.reasons(), self.devices.reasons()
        self._down_since = (self._down_since or now) if links else None
        self._good_since = (self._good_since or now) if not links + devices else None
        lasting = self._down_since is not None and now - self._down_since >= self.debounce
        reasons = devices + (links if lasting or self.is_out else [])
        if self.is_out and not reasons and now - self._good_since < self.settle:
            reasons = ["fit again, but not for long enough"]
        return reasons
