"""NVML through ctypes. Calls can hang in the driver, so they are made in a child that may be abandoned."""

import ctypes
import json
import os
import select
import signal
import time
from typing import Any, Dict, List, Optional

_LOST = 15


class _Pci(ctypes.Structure):
    _fields_ = [
        ("legacy", ctypes.c_char * 16),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("device_id", ctypes.c_uint),
        ("subsystem", ctypes.c_uint),
        ("address", ctypes.c_char * 32),
    ]


def read() -> Dict[str, Any]:
    """All devices, or ``error`` in words. Values that the library does not give are None."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        return {"error": "NVML cannot be loaded: %s" % error, "devices": []}
    code = library.nvmlInit_v2()
    if code:
        return {"error": "NVML does not start: error %d" % code, "devices": []}
    try:
        count = ctypes.c_uint()
        code = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        if code:
            return {"error": "NVML counts no devices: error %d" % code, "devices": []}
        return {"devices": [_device(library, index) for index in range(count.value)]}
    finally:
        library.nvmlShutdown()


def _device(library: Any, index: int) -> Dict[str, Any]:
    handle = ctypes.c_void_p()
    code = library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
    found: Dict[str, Any] = {"index": index, "lost": code == _LOST, "error": code}
    if code:
        return found
    found.update(uuid=_text(library.nvmlDeviceGetUUID, handle, 96), name=_text(library.nvmlDeviceGetName, handle, 96))
    found["pci"] = _pci(library, handle)
    found["ecc_corrected"], first = _counter(library, handle, 0)
    found["ecc_uncorrected"], second = _counter(library, handle, 1)
    temperature = ctypes.c_uint()
    third = library.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(temperature))
    found["temperature"] = None if third else temperature.value
    found["lost"] = _LOST in (first, second, third)
    return found


def _text(function: Any, handle: Any, length: int) -> Optional[str]:
    buffer = ctypes.create_string_buffer(length)
    code = function(handle, buffer, length)
    return None if code else str(buffer.value, "utf-8", "replace")


def _pci(library: Any, handle: Any) -> Optional[str]:
    seen = _Pci()
    if library.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(seen)):
        return None
    address = str(seen.address, "ascii", "replace").lower()
    return address[4:] if len(address) == 16 else address


def _counter(library: Any, handle: Any, kind: int) -> Any:
    value = ctypes.c_ulonglong()
    code = library.nvmlDeviceGetTotalEccErrors(handle, kind, 0, ctypes.byref(value))
    return (None if code else value.value), code


class Reader:
    """A child that asks NVML whenever it is told to, and may be abandoned; nothing here ever waits for the driver.

    The child lives as long as it answers: to start one for every look costs a hundred times what the look costs. It holds nothing
    of the library in between, so that a device can be reset.
    """

    def __init__(self) -> None:
        self._child = 0
        self._asks = self._answers = -1
        self._text = b""
        self.asked_at = 0.0

    def ask(self) -> bool:
        """Puts the question. False while a child that was abandoned still hangs in the driver: another would hang as well."""
        self._text, self.asked_at = b"", time.monotonic()
        if not self._child and not self._start():
            return False
        try:
            os.write(self._asks, b"\n")
        except OSError:
            self.close()
            return False
        return True

    def _start(self) -> bool:
        _reap()
        if _abandoned:
            return False
        (hears, self._asks), (self._answers, says) = os.pipe(), os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                _answer_all(hears, says)
            finally:
                os._exit(0)
        os.close(hears)
        os.close(says)
        return True

    def answer(self, patience: float = 0.0) -> Optional[Dict[str, Any]]:
        """What the child said, or None when it has said nothing yet."""
        end = time.monotonic() + patience
        while self._child:
            if not select.select([self._answers], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            block = os.read(self._answers, 65536)
            self._text += block
            if not block:
                self.close()
            elif self._text.endswith(b"\n"):
                return dict(json.loads(self._text))
        return {"error": "the child that asks NVML died", "devices": []}

    def close(self) -> None:
        """Lets the child go; one that hangs in the driver stays behind."""
        if not self._child:
            return
        os.close(self._asks)
        os.close(self._answers)
        os.kill(self._child, signal.SIGKILL)
        _abandoned.append(self._child)
        self._child = 0
        deadline = time.monotonic() + 0.1
        while _reap() and time.monotonic() < deadline:
            time.sleep(0.002)


def _answer_all(hears: int, says: int) -> None:
    """The child. It keeps no file of its parent open: a child that hangs would keep sockets alive that nobody serves."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in (hears, says):
            try:
                os.close(int(name))
            except OSError:
                continue
    while os.read(hears, 1):
        os.write(says, json.dumps(read()).encode() + b"\n")


def read_apart(limit: float) -> Dict[str, Any]:
    """:func:`read` in a child; when it does not answer in time it is left behind and said so."""
    reader = Reader()
    try:
        answer = reader.answer(limit) if reader.ask() else None
    finally:
        reader.close()
    return silence(limit) if answer is None else answer


def silence(limit: float) -> Dict[str, Any]:
    """What is known when NVML does not answer: nothing."""
    return {"error": "NVML did not answer within %.3g s" % limit, "timed_out": True, "devices": []}


_abandoned: List[int] = []


def _reap() -> bool:
    """Whether children that were let go are still there."""
    for child in list(_abandoned):
        try:
            is_gone = os.waitpid(child, os.WNOHANG)[0] != 0
        except ChildProcessError:
            is_gone = True
        if is_gone:
            _abandoned.remove(child)
    return bool(_abandoned)
