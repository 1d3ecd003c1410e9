"""The state of a node's simulated accelerators: one file of fixed layout. This description is the only one.

The C header of the fake NVML library and the node's own tools are generated from it, and all three check the version in the file.
"""

from __future__ import annotations

import ctypes

MAGIC = 0x43484153
VERSION = 1
MOST_DEVICES = 16
PATH = "/run/lab/nvml.state"


class Device(ctypes.Structure):
    """One accelerator. Counts and states are what NVML would say; ``lost`` makes every call answer GPU_IS_LOST."""

    _fields_ = [
        ("uuid", ctypes.c_char * 64),
        ("name", ctypes.c_char * 64),
        ("pci", ctypes.c_char * 32),
        ("lost", ctypes.c_uint),
        ("temperature", ctypes.c_uint),
        ("power_mw", ctypes.c_uint),
        ("power_limit_mw", ctypes.c_uint),
        ("utilization", ctypes.c_uint),
        ("memory_utilization", ctypes.c_uint),
        ("sm_clock", ctypes.c_uint),
        ("memory_clock", ctypes.c_uint),
        ("pcie_generation", ctypes.c_uint),
        ("pcie_width", ctypes.c_uint),
        ("throttle_reasons", ctypes.c_ulonglong),
        ("memory_total", ctypes.c_ulonglong),
        ("memory_used", ctypes.c_ulonglong),
        ("ecc_corrected", ctypes.c_ulonglong),
        ("ecc_uncorrected", ctypes.c_ulonglong),
        ("ecc_corrected_aggregate", ctypes.c_ulonglong),
        ("ecc_uncorrected_aggregate", ctypes.c_ulonglong),
        ("remapped_corrected", ctypes.c_uint),
        ("remapped_uncorrected", ctypes.c_uint),
        ("remap_pending", ctypes.c_uint),
        ("remap_failed", ctypes.c_uint),
    ]


class State(ctypes.Structure):
    """The whole file. ``delay_ms`` makes every call wait, as a hanging driver does."""

    _fields_ = [
        ("magic", ctypes.c_uint),
        ("version", ctypes.c_uint),
        ("count", ctypes.c_uint),
        ("delay_ms", ctypes.c_uint),
        ("driver", ctypes.c_char * 32),
        ("devices", Device * MOST_DEVICES),
    ]


_C_TYPES = {ctypes.c_uint: "unsigned int", ctypes.c_ulonglong: "unsigned long long"}


def c_header() -> str:
    """The same layout in C."""
    lines = [
        f"#define MAGIC 0x{MAGIC:x}u",
        f"#define VERSION {VERSION}u",
        f"#define MOST_DEVICES {MOST_DEVICES}",
        f'#define STATE_PATH "{PATH}"',
    ]
    lines += ["struct device {", *(_c_field(*field) for field in Device._fields_), "};"]
    lines += [
        "struct state {",
        *(_c_field(*field) for field in State._fields_[:-1]),
        "  struct device devices[MOST_DEVICES];",
        "};",
    ]
    lines.append(f'_Static_assert(sizeof(struct state) == {ctypes.sizeof(State)}, "layout");')
    return "\n".join(lines) + "\n"


def _c_field(name: str, kind: type) -> str:
    if kind in _C_TYPES:
        return f"  {_C_TYPES[kind]} {name};"
    return f"  char {name}[{ctypes.sizeof(kind)}];"


def layout() -> dict[str, list[tuple[str, int, int, str]]]:
    """(name, offset, size, kind) of every field, for tools that do not have this module."""
    return {kind.__name__: [_field(kind, *field[:2]) for field in kind._fields_] for kind in (State, Device)}


def _field(kind: type[ctypes.Structure], name: str, of: type) -> tuple[str, int, int, str]:
    place = getattr(kind, name)
    return name, place.offset, place.size, "text" if of not in _C_TYPES and name != "devices" else "number"


def fresh(node: str, count: int) -> bytes:
    """Healthy devices, with the identities that the inventory of the lab names."""
    state = State(magic=MAGIC, version=VERSION, count=count, driver=b"570.00.simulated")
    for index in range(count):
        device = state.devices[index]
        device.uuid = f"GPU-{node}-{index}".encode()
        device.name = b"Simulated H100"
        device.pci = f"0000{'0000:17:00.0' if index == 0 else f'0000:{0x5E + index - 1:02x}:00.0'}".upper().encode()
        device.temperature, device.power_mw, device.power_limit_mw = 36, 120_000, 700_000
        device.sm_clock, device.memory_clock, device.pcie_generation, device.pcie_width = 1980, 2619, 5, 16
        device.memory_total = 80 << 30
    return bytes(state)
