"""The simulated accelerators: one layout in C, in ctypes and in the node's own tool, and NVML's own behaviour."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.errors import Unsupported
from chaos.lab import device_state, simulator
from chaos.lab.device_state import Device, State

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
ROOT = Path(__file__).parents[3]
READ = "import json; from chaos.agent import nvml; print(json.dumps(nvml.read()))"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A folder in which the dynamic linker finds the library under NVML's name."""
    folder = tmp_path_factory.mktemp("nvml")
    (folder / simulator.LIBRARY).symlink_to(simulator.build(folder))
    return folder


@pytest.fixture
def node(libraries, tmp_path):
    """The environment of a node with three devices."""
    state = tmp_path / "nvml.state"
    state.write_bytes(device_state.fresh("node7", 3))
    return {**os.environ, "LD_LIBRARY_PATH": str(libraries), "FAKE_NVML_STATE": str(state), "PYTHONPATH": str(ROOT)}


def read(node):
    ended = subprocess.run([sys.executable, "-c", READ], env=node, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.fixture
def tool(node, tmp_path):
    program = tmp_path / "chaos-simulator"
    source = (Path(simulator.__file__).parent / "programs" / "simulator.py").read_text()
    program.write_text(source.replace("LAYOUT = {}", f"LAYOUT = {json.dumps(device_state.layout())}"))

    def run(*words):
        return subprocess.run(
            [sys.executable, "-S", "-E", program, *words], env=node, capture_output=True, text=True, check=False
        )

    return run


def test_every_field_lies_at_the_same_place_in_c(tmp_path):
    checks = [
        f'_Static_assert(offsetof(struct {name}, {field}) == {getattr(kind, field).offset}, "{name}.{field}");'
        for name, kind in (("device", Device), ("state", State))
        for field, _ in kind._fields_
    ]
    checks.append(f'_Static_assert(sizeof(struct device) == {ctypes.sizeof(Device)}, "device");')
    source = tmp_path / "layout.c"
    source.write_text("#include <stddef.h>\n" + device_state.c_header() + "\n".join(checks) + "\n")

    done = subprocess.run(["cc", "-fsyntax-only", "-Wall", "-Werror", source], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_is_built_once_and_anew_when_the_layout_changes(tmp_path, monkeypatch):
    first = simulator.build(tmp_path)
    stamp = first.stat().st_mtime_ns
    assert simulator.build(tmp_path).stat().st_mtime_ns == stamp

    header = device_state.c_header() + "/* more */\n"
    monkeypatch.setattr(device_state, "c_header", lambda: header)
    assert simulator.build(tmp_path) != first


def test_without_a_compiler_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Unsupported, match="apt-get install gcc"):
        simulator.build(tmp_path / "cache")


def test_the_agent_sees_healthy_devices_with_the_inventory_s_identities(node):
    devices = read(node)["devices"]

    assert [(each["uuid"], each["pci"]) for each in devices] == [
        ("GPU-node7-0", "0000:17:00.0"),
        ("GPU-node7-1", "0000:5e:00.0"),
        ("GPU-node7-2", "0000:5f:00.0"),
    ]
    assert {(each["lost"], each["ecc_corrected"], each["ecc_uncorrected"], each["temperature"]) for each in devices} == {
        (False, 0, 0, 36)
    }


def test_what_the_tool_sets_the_library_shows(node, tool):
    assert tool("set", "--gpu", "1", "temperature=92", "ecc_uncorrected=4").returncode == 0

    assert [(each["temperature"], each["ecc_uncorrected"]) for each in read(node)["devices"]] == [(36, 0), (92, 4), (36, 0)]


def test_a_lost_device_is_lost_and_the_others_stay(node, tool):
    tool("set", "--gpu", "1", "lost=1")

    devices = read(node)["devices"]
    assert [each["lost"] for each in devices] == [False, True, False]
    assert "uuid" not in devices[1]


def test_restoring_gives_back_every_byte(node, tool):
    before = Path(node["FAKE_NVML_STATE"]).read_bytes()
    shown = json.loads(tool("show", "--json").stdout)["devices"][2]
    tool("set", "--gpu", "2", "lost=1", "temperature=99", "name=Broken", "throttle_reasons=64")
    assert Path(node["FAKE_NVML_STATE"]).read_bytes() != before

    assert tool("restore", "--gpu", "2", json.dumps(shown)).returncode == 0
    assert Path(node["FAKE_NVML_STATE"]).read_bytes() == before


@pytest.mark.parametrize(("words", "said"), [(("3", "lost=1"), "no device 3"), (("0", "mood=bad"), "no field 'mood'")])
def test_what_is_not_there_cannot_be_set(tool, words, said):
    done = tool("set", "--gpu", *words)

    assert done.returncode != 0
    assert said in done.stderr


def test_a_state_of_another_version_is_refused_as_a_driver_mismatch(node):
    path = Path(node["FAKE_NVML_STATE"])
    state = State.from_buffer_copy(path.read_bytes())
    state.version = 99
    path.write_bytes(bytes(state))

    assert read(node) == {"error": "NVML does not start: error 18", "devices": []}


def test_a_node_without_a_state_has_no_driver(node):
    Path(node["FAKE_NVML_STATE"]).unlink()

    assert read(node) == {"error": "NVML does not start: error 9", "devices": []}


def test_a_driver_that_hangs_is_given_up_in_time(node):
    path = Path(node["FAKE_NVML_STATE"])
    state = State.from_buffer_copy(path.read_bytes())
    state.delay_ms = 60_000
    path.write_bytes(bytes(state))
    script = "import json; from chaos.agent import nvml; print(json.dumps([nvml.read_apart(0.2) for _ in range(2)]))"

    ended = subprocess.run([sys.executable, "-c", script], env=node, capture_output=True, text=True, check=True, timeout=20)

    assert [answer["timed_out"] for answer in json.loads(ended.stdout)] == [True, True]
