"""The health gate on a node: when it lets the node take part, and when not."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import pytest

import chaos.launchers

_SPEC = importlib.util.spec_from_file_location("chaos_runner", Path(chaos.launchers.__file__).parent / "programs/chaos_runner.py")
chaos_runner = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chaos_runner)

OK, NOT_SUPPORTED, LOST, UNKNOWN = 0, 3, 15, 999


class Library:
    """A management library whose answers a test sets: an NVML status and an error count for each device."""

    def __init__(self, count: int) -> None:
        self.found = [OK] * count
        self.ecc = [OK] * count
        self.errors = [0] * count
        self.opened = 0

    def nvmlInit_v2(self) -> int:  # noqa: N802 - NVML's name
        self.opened += 1
        return OK

    def nvmlShutdown(self) -> int:  # noqa: N802
        return OK

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle) -> int:  # noqa: N802
        handle._obj.value = index
        return self.found[index] if index < len(self.found) else 2

    def nvmlDeviceGetTotalEccErrors(self, handle, kind, counter, count) -> int:  # noqa: N802
        assert (kind, counter) == (1, 0), "uncorrected, volatile"
        index = handle.value or 0
        count._obj.value = self.errors[index]
        return self.ecc[index]

    def nvmlDeviceGetTemperature(self, handle, sensor, warmth) -> int:  # noqa: N802
        return self.found[handle.value or 0]


@pytest.fixture
def library(monkeypatch) -> Library:
    monkeypatch.setattr(chaos_runner, "DEVICE_POLL", 0.01)
    return Library(2)


def soon(devices, expected: list[str]) -> None:
    """The devices come to give these reasons."""
    end = time.monotonic() + 5
    while devices.reasons() != expected and time.monotonic() < end:
        time.sleep(0.005)
    assert devices.reasons() == expected


def test_healthy_devices_give_no_reason(library):
    assert chaos_runner.Devices(2, library).reasons() == []


def test_a_lost_device_is_a_reason_until_it_is_back_and_the_library_is_opened_anew_to_see_that(library):
    devices = chaos_runner.Devices(2, library)
    library.ecc[1] = LOST
    soon(devices, ["accelerator 1 is lost"])
    library.ecc[1] = OK
    soon(devices, [])
    assert library.opened > 0


def test_a_device_that_is_missing_from_the_start_is_a_reason(library):
    assert chaos_runner.Devices(3, library).reasons() == ["accelerator 2 cannot be read (NVML status 2)"]


def test_a_device_that_cannot_be_read_is_not_taken_for_healthy(library):
    library.found[0] = UNKNOWN

    assert chaos_runner.Devices(2, library).reasons() == ["accelerator 0 cannot be read (NVML status 999)"]


def test_a_device_without_ecc_is_healthy_as_long_as_it_answers(library):
    library.ecc = [NOT_SUPPORTED] * 2
    devices = chaos_runner.Devices(2, library)
    soon(devices, [])
    library.found[0] = LOST
    soon(devices, ["accelerator 0 is lost"])


def test_only_new_uncorrectable_errors_are_a_reason(library):
    library.errors = [4, 0]
    devices = chaos_runner.Devices(2, library)
    soon(devices, [])
    library.errors = [4, 1]
    soon(devices, ["accelerator 1 has 1 new uncorrectable errors"])


def test_a_library_that_hangs_is_a_reason_and_does_not_hang_the_gate(library, monkeypatch):
    monkeypatch.setattr(chaos_runner, "SILENCE_PATIENCE", 0.05)
    devices = chaos_runner.Devices(2, library)
    monkeypatch.setattr(library, "nvmlDeviceGetHandleByIndex_v2", lambda index, handle: time.sleep(1) or OK)
    soon(devices, ["the accelerators' management library has not answered for 0 s"])


def test_without_a_management_library_nothing_is_claimed_about_devices():
    assert chaos_runner.Devices(2, None).reasons() == []


class Interface:
    """A folder as the kernel shows an interface."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "rdma0"
        self.folder.mkdir()
        self.set("1", "up")

    def set(self, carrier: str | None, state: str) -> None:
        (self.folder / "operstate").write_text(state + "\n")
        path = self.folder / "carrier"
        path.write_text(f"{carrier}\n") if carrier is not None else path.unlink()


@pytest.fixture
def interface(tmp_path) -> Interface:
    return Interface(tmp_path)


def gate(interface: Interface):
    return chaos_runner.Gate("rdma0", chaos_runner.Devices(0, None), None, place=str(interface.folder.parent))


def test_a_link_that_is_up_gives_no_reason(interface):
    assert gate(interface).reasons() == []


def test_a_short_flap_is_ridden_out_and_a_lasting_one_is_not(interface, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(chaos_runner.time, "monotonic", lambda: now[0])
    watched = gate(interface)
    interface.set("0", "down")
    assert watched.reasons() == []
    now[0] += 1.9
    assert watched.reasons() == []
    now[0] += 0.2
    assert watched.reasons() == ["rdma0 has no carrier"]
    interface.set("1", "up")
    assert watched.reasons() == []


@pytest.mark.parametrize(("carrier", "state"), [(None, "down"), ("0", "up"), ("1", "lowerlayerdown"), ("", "up")])
def test_whatever_is_not_a_carrier_counts_as_none(interface, monkeypatch, carrier, state):
    monkeypatch.setattr(chaos_runner, "LINK_PATIENCE", 0.0)
    interface.set(carrier, state)

    assert gate(interface).reasons() == ["rdma0 has no carrier"]
