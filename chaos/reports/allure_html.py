"""The HTML report that Allure 3 builds from result files: offline, without analytics, and counted.

Allure tells Google of every opening of a report whatever is configured, and ends with 0 after an error; so both are checked here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.errors import ChaosError, Unsupported
from chaos.reports.allure_results import Results, read_results
from chaos.reports.texts import shapes

PACKAGE = "allure@3"
_ANALYTICS = re.compile(
    r'<script[^>]*src="https://www\.googletagmanager\.com/[^"]*"[^>]*>\s*</script>\s*(<script>.*?</script>)?', re.DOTALL
)
_TRACES = ("googletagmanager", "google-analytics")
_BUILD_LIMIT, _INSTALL_LIMIT = 180.0, 300.0


@dataclass(frozen=True, slots=True)
class Builder:
    """An Allure 3 that was found: the command that starts it."""

    command: tuple[str, ...]


def cache_folder() -> Path:
    """Where ``--install`` puts the npm package."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chaos" / "allure"


def find_builder() -> Builder:
    """Allure 3 on PATH, or installed by us.

    Raises:
        Unsupported: there is none; the message says what to install.
    """
    found = [shutil.which("allure"), shutil.which("allure", path=str(cache_folder() / "node_modules" / ".bin"))]
    for path in found:
        if path and _version(path).startswith("3."):
            return Builder((path,))
    missing = "npm is not there either: install Node.js 20 or newer, then " if shutil.which("npm") is None else ""
    raise Unsupported(
        "build the Allure report",
        ability="Allure 3",
        why="no `allure` of version 3 was found on PATH or in the cache",
        todo=f"{missing}run `chaos report RUN --install`, or `npm install --global {PACKAGE}`; the results are readable without it",
    )


def install_builder() -> Builder:
    """Puts Allure 3 into our cache with npm.

    Raises:
        Unsupported: there is no npm.
        ChaosError: npm failed.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise Unsupported("install Allure 3", ability="npm", why="there is no npm", todo="install Node.js 20 or newer")
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    _run(
        [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", PACKAGE], folder, _INSTALL_LIMIT, "install Allure 3"
    )
    return find_builder()


def build(results: Path, target: Path, *, name: str, single_file: bool = True) -> Path:
    """The report of a folder of results; the page to open.

    Raises:
        Unsupported: Allure 3 is not installed.
        ChaosError: the report does not hold every result, or would call home.
    """
    builder, expected = find_builder(), read_results(results)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    configuration = target.parent / "allurerc.json"
    configuration.write_text(json.dumps(settings(target, name, single_file=single_file), indent=2), encoding="utf-8")
    command = [
        *builder.command,
        "generate",
        str(results.resolve()),
        "--config",
        str(configuration.resolve()),
        "--cwd",
        str(target.parent),
    ]
    _run(command, target.parent, _BUILD_LIMIT, "build the Allure report")
    strip_analytics(target)
    check_counts(target, expected)
    return target / "index.html"


def settings(target: Path, name: str, *, single_file: bool) -> Mapping[str, Any]:
    """The configuration, generated so that one lying in the working folder is never picked up."""
    options = {"reportName": name, "singleFile": single_file, "reportLanguage": "en", "groupBy": ["epic", "feature", "story"]}
    return {
        "name": name,
        "output": str(target.resolve()),
        "categories": {"rules": _rules()},
        "plugins": {"awesome": {"options": options}},
    }


def _rules() -> list[dict[str, Any]]:
    listed = json.loads((shapes() / "allure" / "categories.json").read_text(encoding="utf-8"))
    return [{"name": entry["name"], "matchers": _matcher(entry)} for entry in listed]


def _matcher(entry: Mapping[str, Any]) -> dict[str, Any]:
    message = {"message": entry["messageRegex"]} if "messageRegex" in entry else {}
    return {"statuses": entry["matchedStatuses"], **message}


def strip_analytics(folder: Path) -> None:
    """Takes the calls to Google out of every page.

    Raises:
        ChaosError: something of them is left.
    """
    for page in sorted(folder.rglob("*.html")):
        page.write_text(_ANALYTICS.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")
    left = [
        str(file)
        for file in sorted(folder.rglob("*.html"))
        if any(trace in file.read_text(encoding="utf-8") for trace in _TRACES)
    ]
    if left:
        raise ChaosError(
            "strip the analytics",
            where=", ".join(left),
            why="the page still names Google",
            todo="do not hand it out; report the version",
        )


def check_counts(folder: Path, expected: Results) -> None:
    """Compares the report's summary with the result files.

    Raises:
        ChaosError: they differ, or there is no summary.
    """
    summaries = sorted(folder.rglob("summary.json"))
    if not summaries:
        raise ChaosError("count the report", where=str(folder), why="it has no summary.json: Allure failed without saying so")
    stats = json.loads(summaries[0].read_text(encoding="utf-8")).get("stats", {})
    told = {
        status: int(number) for status, number in stats.items() if status not in {"total", "retries", "flaky", "new"} and number
    }
    if told != dict(expected.counts):
        raise ChaosError("count the report", where=str(folder), why=f"it tells of {told}, the results of {dict(expected.counts)}")


def _version(command: str) -> str:
    try:
        done = subprocess.run(
            [command, "--version"], capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _run(command: list[str], folder: Path, limit: float, attempted: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ChaosError(attempted, where=command[0], why=str(error)) from error
    if done.returncode != 0:
        raise ChaosError(attempted, where=command[0], why=(done.stdout + done.stderr).strip()[-800:])
