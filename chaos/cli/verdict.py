"""Grading a finished record and telling the verdict: one screen for people, files for everybody else."""

from __future__ import annotations

from pathlib import Path

import typer

from chaos.catalog import Catalog, found
from chaos.cli.site import tell
from chaos.grading.judgement import judge
from chaos.grading.profiles import load_profile
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_history
from chaos.model.verdicts import Judgement, Outcome, Verdict
from chaos.protocols.report import Report

_MARKS = {
    Outcome.PASS: "green",
    Outcome.FAIL: "red",
    Outcome.INVALID: "red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_APPLICABLE: "bright_black",
}


def tell_verdict(folder: RunFolder, profile: str, catalog: Catalog, *, language: str = "en", as_json: bool = False) -> int:
    """Grades the run, writes its reports and prints the verdict. Returns the exit code: 0 accepted, 1 failed, 3 not decided."""
    history = read_history(folder.path)
    judgement = judge(history, load_profile(profile, catalog.criteria), catalog.criteria)
    written = write_reports(folder, judgement, language)
    if as_json:
        typer.echo((folder.reports / "certificate.json").read_text(encoding="utf-8"))
    else:
        _show(judgement)
    for path in written:
        tell(f"  {path}")
    return judgement.exit_code


def write_reports(folder: RunFolder, judgement: Judgement, language: str) -> tuple[Path, ...]:
    """Every installed report of this run, written into its folder."""
    history = read_history(folder.path)
    written = []
    for report in found("chaos.reports", Report).values():
        for name, content in report().render(judgement, history, language=language).items():
            path = folder.reports / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            written.append(path)
    return tuple(written)


def _show(judgement: Judgement) -> None:
    """One line a criterion, those that sign first, and the whole at the end."""
    width = max((len(verdict.title) for verdict in judgement.verdicts), default=0)
    for verdict in sorted(judgement.verdicts, key=lambda verdict: not verdict.signs):
        _line(verdict, width)
    for canary in judgement.canaries:
        if not canary.barks:
            typer.secho(f"  {canary.criterion}: its canary does not bark: {canary.why}", fg="red")
    typer.secho(f"\n{judgement.outcome}  profile {judgement.profile}", fg=_MARKS[judgement.outcome], bold=True)


def _line(verdict: Verdict, width: int) -> None:
    outcome = typer.style(f"{verdict.outcome:14}", fg=_MARKS[verdict.outcome], bold=verdict.signs)
    beside = "" if verdict.signs else " (informs)"
    typer.echo(f"{outcome} {verdict.title:{width}}  {verdict.sentence}{beside}")
