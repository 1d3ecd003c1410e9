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
    return None if function(handle, buffer, length) else str(buffer.value.decode("utf-8", "replace"))


def _pci(library: Any, handle: Any) -> Optional[str]:
    seen = _Pci()
    if library.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(seen)):
        return None
    address = seen.address.decode("ascii", "replace").lower()
    return address[4:] if len(address) == 16 else address


def _counter(library: Any, handle: Any, kind: int) -> Any:
    value = ctypes.c_ulonglong()
    code = library.nvmlDeviceGetTotalEccErrors(handle, kind, 0, ctypes.byref(value))
    return (None if code else value.value), code


def read_apart(limit: float) -> Dict[str, Any]:
    """:func:`read` in a child; when it does not answer in time it is left behind and said so."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, json.dumps(read()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        text = _read_until(reader, time.monotonic() + limit)
    finally:
        os.close(reader)
    if text is None:
        os.kill(child, signal.SIGKILL)
        _abandoned.append(child)
        _reap()
        return {"error": "NVML did not answer within %.3g s" % limit, "timed_out": True, "devices": []}
    os.waitpid(child, 0)
    try:
        return dict(json.loads(text))
    except ValueError:
        return {"error": "the child that asks NVML died", "devices": []}


_abandoned: List[int] = []


def _reap() -> None:
    for child in list(_abandoned):
        if os.waitpid(child, os.WNOHANG)[0]:
            _abandoned.remove(child)


def _read_until(reader: int, end: float) -> Optional[bytes]:
    text = b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return None
        block = os.read(reader, 65536)
        if not block:
            return text
        text += block
