"""Asks the rank's NVIDIA device between steps whether it is still there, as a CUDA context would find out by itself.

A simulated device has no CUDA context that a fault could break; NVML shows the same state on real and simulated hardware. One call a
step. Without NVML there is no sentinel.
"""

import ctypes
import os

_LOST = {15: "GPU is lost", 16: "GPU requires restart"}  # NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED
_NOT_SUPPORTED = 3
_UNCORRECTED, _VOLATILE = 1, 0
_TEMPERATURE_GPU = 0


class Sentinel:
    """Watches one device; :meth:`check` raises as CUDA would."""

    def __init__(self, local_rank):
        self.about = "no NVML: devices are not watched"
        self._library = None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            status = library.nvmlInit_v2()
        except (OSError, AttributeError):
            return
        count = ctypes.c_uint()
        if status != 0 or library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0 or count.value == 0:
            self.about = "NVML shows no device (status {})".format(status)
            return
        self.index = _physical(local_rank, count.value)
        self._device = ctypes.c_void_p()
        self._library = library
        self.about = "NVML device {} of {}".format(self.index, count.value)
        self._require(library.nvmlDeviceGetHandleByIndex_v2(self.index, ctypes.byref(self._device)))
        self._before = self._uncorrected()

    def check(self):
        """Raises RuntimeError when the device is lost or has had an uncorrectable memory error since the start."""
        if self._library is None:
            return
        now = self._uncorrected()
        if now > self._before:
            raise RuntimeError(
                "CUDA error: uncorrectable ECC error encountered (device {}: {} volatile uncorrectable errors, {} at start)".format(
                    self.index, now, self._before
                )
            )

    def _uncorrected(self):
        count = ctypes.c_ulonglong()
        status = self._library.nvmlDeviceGetTotalEccErrors(self._device, _UNCORRECTED, _VOLATILE, ctypes.byref(count))
        if status == _NOT_SUPPORTED:  # ECC is off: any other call still tells a lost device
            reading = ctypes.c_uint()
            status = self._library.nvmlDeviceGetTemperature(self._device, _TEMPERATURE_GPU, ctypes.byref(reading))
        self._require(status)
        return count.value

    def _require(self, status):
        if status in _LOST:
            raise RuntimeError("CUDA error: unspecified launch failure (device {}: {})".format(self.index, _LOST[status]))


def _physical(local_rank, count):
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    chosen = [part.strip() for part in visible.split(",") if part.strip()]
    if chosen and all(part.isdigit() for part in chosen):
        return int(chosen[local_rank % len(chosen)])
    return local_rank % count
