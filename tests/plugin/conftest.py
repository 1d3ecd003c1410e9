"""Sessions of pytest within pytest, with our plugin and Allure's and no other."""

import json
import sys

import pytest

INVENTORY = """\
name: bench
groups:
  compute:
    hosts: gpu[001-002]
    role: compute
    address: 192.0.2.[1-2]
    vendor: linux
"""
RUNNER = ("-p", "chaos.pytest_plugin.plugin", "-p", "no:cacheprovider", "--strict-markers")


@pytest.fixture
def suite(pytester, monkeypatch):
    """Writes a suite and runs it in a process of its own; results of Allure by test name."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    inventory = pytester.path / "bench.yaml"
    inventory.write_text(INVENTORY)

    def run(text: str, *options: str, with_inventory: bool = True):
        pytester.makepyfile(test_suite=text)
        given = ("--inventory", str(inventory)) if with_inventory else ()
        return pytester.runpytest_subprocess(*RUNNER, *given, *options, timeout=60)

    return run


@pytest.fixture
def allure_results(pytester):
    """What Allure was told, by title."""

    def read() -> dict[str, dict]:
        files = (pytester.path / "allure").glob("*-result.json")
        return {told["name"]: told for told in map(json.loads, (file.read_text() for file in files))}

    return read
