"""``chaos grade``: a verdict over what has already happened. Touches no node."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos.catalog import Catalog
from chaos.cli.output import write_json
from chaos.errors import UsageError
from chaos.grading.judgement import judge
from chaos.grading.profiles import load_profile
from chaos.grading.traces import judge_trace
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_history
from chaos.model.verdicts import Judgement, Verdict
from chaos.readers.infinitehbd import Trace, looks_like_trace, read_trace
from chaos.reports.plain_text import fold_numbers, printable


def grade(
    file: Annotated[Path, typer.Argument(help="A run folder, its ledger.jsonl, or a fault trace (InfiniteHBD's JSON).")],
    profile: Annotated[str, typer.Option(help="Profile by name or path; a run is graded by its own unless told otherwise.")] = "",
    nodes: Annotated[
        int | None, typer.Option(help="For a trace: how many nodes the cluster had. It cannot be known from it.")
    ] = None,
    days: Annotated[float | None, typer.Option(help="For a trace: days to grade, from day 0; by default all whole days.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable verdicts on stdout.")] = False,
) -> None:
    """Grade a finished run or a fault trace without touching a node.

    Exit code 0: accepted; 1: a criterion failed; 2: the request cannot be carried out; 3: inconclusive or invalid.
    """
    trace = _trace(file)
    judgement = _judge_run(file, profile) if trace is None else _judge_trace(trace, profile, nodes, days)
    if as_json:
        write_json("chaos.judgement", {"file": str(file), "exit_code": judgement.exit_code, **_plain(judgement)})
    else:
        typer.echo(told(judgement))
    raise typer.Exit(judgement.exit_code)


def _trace(file: Path) -> Trace | None:
    """The trace in this file, or None when it is a run."""
    if file.is_dir() or file.suffix == ".jsonl":
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "read what is to be graded", where=str(file), why=str(error), todo="give a run folder or a trace"
        ) from error
    if looks_like_trace(text):
        return read_trace(text)
    why = "it is neither a run folder, nor a ledger.jsonl, nor a fault trace that this installation can read"
    raise UsageError("grade a file", where=str(file), why=why, todo="see `chaos grade --help`")


def _judge_trace(trace: Trace, profile: str, nodes: int | None, days: float | None) -> Judgement:
    if nodes is None:
        raise UsageError(
            "grade a fault trace",
            why=f"it names {len(trace.nodes)} nodes that had a fault, and not how many there were",
            todo="add --nodes N with the number of all nodes (the README of this trace says 400)",
        )
    criteria = Catalog.installed().criteria
    limits = [
        r.criterion for r in load_profile(profile or "five-star", criteria).requirements if r.criterion.kind == "availability"
    ]
    threshold = getattr(limits[0], "at_least", None) if limits else None
    return judge_trace(trace, nodes, days if days is not None else float(math.floor(trace.end)), threshold)


def _judge_run(file: Path, profile: str) -> Judgement:
    if file.is_dir() and not RunFolder(file).ledger.exists():
        raise UsageError("grade a run", where=str(file), why="the folder has no ledger.jsonl", todo="give a folder below runs/")
    history = read_history(file)
    opening = history.opening
    own = str(opening.plan.get("profile", "")) if opening else ""
    criteria = Catalog.installed().criteria
    return judge(history, load_profile(profile or own or "quick", criteria), criteria)


def told(judgement: Judgement) -> str:
    """A judgement for a terminal: one block for each verdict, those that sign first, the outcome last."""
    ordered = sorted(judgement.verdicts, key=lambda verdict: not verdict.signs)
    lines = [line for verdict in ordered for line in _told(verdict)]
    lines += [f"canary does not bark: {canary.criterion}: {canary.why}" for canary in judgement.canaries if not canary.barks]
    lines += [f"does not show: {sentence}" for sentence in judgement.does_not_show]
    lines.append(f"{judgement.profile}: {judgement.outcome}")
    return printable("\n".join(lines))


def _told(verdict: Verdict) -> list[str]:
    beside = "" if verdict.signs else " (informs, does not sign)"
    lines = [f"{verdict.outcome:<14} {verdict.criterion}{beside}: {verdict.sentence}"]
    if verdict.threshold is not None:
        lines.append(f"    measured {verdict.measured}, threshold {verdict.threshold} ({verdict.threshold.source})")
    if verdict.demonstrated is not None:
        more = f"; still needed: {verdict.demonstrated.still_needed}" if verdict.demonstrated.still_needed else ""
        lines.append(f"    demonstrated: {verdict.demonstrated.text}{more}")
    lines += [f"    {label}: {text}" for label, text in verdict.details]
    if verdict.evidence:
        lines.append(f"    evidence: events {fold_numbers(verdict.evidence)}")
    return lines


def _plain(judgement: Judgement) -> dict[str, Any]:
    return asdict(judgement)
