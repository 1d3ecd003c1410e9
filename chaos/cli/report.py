"""``chaos report``: writes the reports of a run once more. Touches no node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from chaos.catalog import Catalog
from chaos.cli.certify import suite
from chaos.cli.output import say
from chaos.cli.verdict import write_reports
from chaos.errors import ChaosError, Unsupported, UsageError
from chaos.grading.judgement import judge
from chaos.grading.profiles import load_profile
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_history
from chaos.model.history import History
from chaos.reports.allure_html import build, find_builder, install_builder
from chaos.reports.allure_results import make_results
from chaos.reports.texts import languages


def report(
    run: Annotated[Path, typer.Argument(help="Run folder, such as runs/20260301-080000-quick-1a2b.")],
    profile: Annotated[str, typer.Option(help="Profile by name or path; by default the run's own.")] = "",
    language: Annotated[str, typer.Option(help=f"Language of the certificate: {', '.join(languages())}.")] = "en",
    *,
    allure: Annotated[bool, typer.Option("--allure/--no-allure", help="Also build the Allure pages.")] = True,
    install: Annotated[bool, typer.Option("--install", help="Install Allure 3 with npm into the cache first.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Paths as JSON on stdout.")] = False,
) -> None:
    """Write certificate, JSON, JUnit and Allure report of a finished run.

    Exit code 0: written; 2: the request cannot be carried out; 4: Allure is missing or failed, everything else is written.
    """
    folder = RunFolder(run)
    if not folder.ledger.exists():
        raise UsageError(
            "write the reports", where=str(run), why="the folder has no ledger.jsonl", todo="give a folder below runs/"
        )
    history = read_history(run)
    name = profile or own_profile(history)
    criteria = Catalog.installed().criteria
    written = list(write_reports(folder, judge(history, load_profile(name, criteria), criteria), language))
    try:
        if allure:
            written += allure_pages(folder, name, install=install)
    finally:
        _tell(written, as_json=as_json)


def own_profile(history: History) -> str:
    """The profile that the run was planned for; the quick one where the record does not say."""
    named = str(history.opening.plan.get("profile", "")) if history.opening else ""
    return named or "quick"


def allure_pages(folder: RunFolder, profile: str, *, install: bool = False) -> tuple[Path, ...]:
    """Result files and pages of Allure.

    Raises:
        Unsupported: Allure 3 is not installed; the result files are written.
        ChaosError: the suite or Allure failed.
    """
    results = make_results(folder.path, suite("acceptance"), folder.allure_results, profile=profile)
    if install:
        install_builder()
    find_builder()
    page = build(results.folder, folder.reports / "allure", name=f"chaos {folder.path.name}")
    return (results.folder, page)


def allure_pages_if_possible(folder: RunFolder, profile: str) -> tuple[Path, ...]:
    """As :func:`allure_pages`; what is missing is said and costs nothing else."""
    try:
        return allure_pages(folder, profile)
    except Unsupported as error:
        say(str(error))
        return (folder.allure_results,)
    except ChaosError as error:
        say(str(error))
        return ()


def _tell(written: list[Path], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"kind": "chaos.reports", "version": 1, "files": [str(path) for path in written]}, indent=2))
        return
    for path in written:
        typer.echo(str(path))
