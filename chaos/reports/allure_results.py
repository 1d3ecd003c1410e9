"""Allure's result files of a run: the acceptance suite, run over the record without touching a node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.errors import ChaosError

_PLUGINS = ("chaos.pytest_plugin.plugin", "allure_pytest.plugin")
_DECIDED = (0, 1)
"""Exit statuses of pytest that tell of tests: all passed, some did not."""
_LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class Results:
    """What lies in a folder of results: how many tests of each status."""

    folder: Path
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many tests there are."""
        return sum(self.counts.values())


def make_results(run: Path, suite: Path, folder: Path, *, profile: str, options: Sequence[str] = ()) -> Results:
    """Runs a suite in replay over a run folder. What the tests say is in the results; only a suite that does not run is an error.

    Only our plugin and Allure's are loaded: other plugins would write themselves into the report.

    Raises:
        ChaosError: the suite could not be run, or wrote nothing.
    """
    _empty(folder)
    command = [sys.executable, "-m", "pytest", str(suite), "--run", str(run), "--replay", "--profile", profile, *options]
    command += [f"--alluredir={folder}", "-p", "no:cacheprovider", "-q", "--no-header", "--strict-markers"]
    command += ["-o", "addopts=", "--import-mode=importlib", "-W", "default"]
    for plugin in _PLUGINS:
        command += ["-p", plugin]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_LIMIT, check=False, stdin=subprocess.DEVNULL
    )
    results = read_results(folder)
    if done.returncode not in _DECIDED or not results.total:
        tail = (done.stdout + done.stderr).strip()[-1200:]
        raise ChaosError("run the suite over the record", where=str(suite), why=f"pytest ended with {done.returncode}: {tail}")
    return results


def read_results(folder: Path) -> Results:
    """The results in a folder. A test that was run more than once counts once, by its last result."""
    latest: dict[str, tuple[int, str]] = {}
    for file in folder.glob("*-result.json"):
        told = json.loads(file.read_text(encoding="utf-8"))
        key, stop = str(told.get("historyId", file.name)), int(told.get("stop", 0))
        latest[key] = max(latest.get(key, (0, "")), (stop, str(told.get("status", "unknown"))))
    return Results(folder, Counter(status for _, status in latest.values()))


def _empty(folder: Path) -> None:
    """Old results would be counted with the new ones; nothing else in the folder is touched."""
    if folder.is_dir():
        for pattern in ("*-result.json", "*-container.json", "*-attachment.*", "*-attachment"):
            for file in folder.glob(pattern):
                file.unlink()
    folder.mkdir(parents=True, exist_ok=True)
