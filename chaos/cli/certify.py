"""``chaos certify``: the whole river once. The plan is carried out, the record graded, the verdict told."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos.cli.inject import Inventory
from chaos.cli.site import open_run, site, tell
from chaos.cli.verdict import tell_verdict
from chaos.engine.campaign import carry_out
from chaos.errors import PlanError
from chaos.ledger.folder import RunFolder
from chaos.model.nodes import Cluster
from chaos.model.plans import Drills, Measure, Plan

PlanMaker = Callable[[Cluster, str, int], Plan]


def certify(
    inventory: Inventory,
    profile: Annotated[str, typer.Option(help="Profile that is signed: a name under suites/profiles or a path.")] = "quick",
    run: Annotated[
        Path | None, typer.Option(help="Run folder; by default a new one under runs/, or the interrupted one.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the nodes that are struck; stored with the run.")] = 1,
    language: Annotated[str, typer.Option(help="Language of the certificate.")] = "en",
    *,
    new: Annotated[bool, typer.Option("--new", help="Begin a new run even when an interrupted one could go on.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; touch nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable verdict on stdout.")] = False,
) -> None:
    """Certify a cluster: measure, train, break, watch it recover, grade.

    Killed or interrupted, the same command goes on where the record ends.
    """
    cluster, catalog = site(inventory)
    plan = plan_for(cluster, profile, seed)
    if dry_run:
        typer.echo(json.dumps(plan.encode(), indent=2) if as_json else describe(plan))
        return
    with open_run(cluster, catalog, plan, run=run, new=new) as session:
        tell(describe(plan))
        carry_out(session, plan)
        folder = session.ledger.folder
    code = tell_verdict(folder, profile, catalog, language=language, as_json=as_json)
    for path in _allure(folder, profile):
        tell(f"  {path}")
    raise typer.Exit(code)


def _allure(folder: RunFolder, profile: str) -> tuple[Path, ...]:
    from chaos.cli.report import allure_pages_if_possible  # noqa: PLC0415 - it looks up the suite, which lives here

    return allure_pages_if_possible(folder, profile)


def drill(
    inventory: Inventory,
    arguments: Annotated[list[str] | None, typer.Argument(help="Further arguments for pytest, such as -k flap.")] = None,
) -> None:
    """Break things under a running job and grade each recovery: the suite `suites/drills`, run with pytest."""
    raise typer.Exit(_run_suite("drills", inventory, arguments or []))


def qualify(
    inventory: Inventory,
    arguments: Annotated[list[str] | None, typer.Argument(help="Further arguments for pytest.")] = None,
) -> None:
    """Check what is there without breaking anything: the suite `suites/qualification`, run with pytest."""
    raise typer.Exit(_run_suite("qualification", inventory, arguments or []))


def _run_suite(name: str, inventory: Path, arguments: list[str]) -> int:
    """Pytest in a process of its own: 0 and 1 as it says, 2 for its usage errors, 4 for its internal ones, 5 when nothing was selected."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        str(suite(name)),
        "--inventory",
        str(inventory),
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
    ]
    words += ["--import-mode=importlib", "-W", "default", *arguments]
    code = subprocess.run(words, check=False).returncode
    return {2: 130, 3: 4, 4: 2}.get(code, code)


def plan_for(cluster: Cluster, profile: str, seed: int, campaign: Path | None = None) -> Plan:
    """The plan that the acceptance suite makes for this cluster.

    Raises:
        PlanError: the suite is not there or makes no plan.
    """
    path = campaign or suite("acceptance") / "campaign.py"
    spec = importlib.util.spec_from_file_location("chaos_campaign", path)
    if spec is None or spec.loader is None or not path.exists():
        raise PlanError("read the campaign", where=str(path), why="there is no such file", todo="run from the project's folder")
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    maker: PlanMaker = module.plan
    return maker(cluster, profile, seed)


def suite(name: str) -> Path:
    """The folder of a suite: below the working folder, or below the project that this package was installed from.

    Raises:
        PlanError: it is in neither place.
    """
    places = [Path("suites") / name, Path(__file__).parent.parent.parent / "suites" / name]
    for place in places:
        if place.is_dir():
            return place
    raise PlanError(
        "find the suite", where=name, why=f"looked in {places[0]} and {places[1]}", todo="run from the project's folder"
    )


def describe(plan: Plan) -> str:
    """A plan for people: what runs, on which nodes, how long it may take."""
    total = sum(step.expected.seconds for step in plan.steps)
    lines = [f"{plan.name}: profile {plan.profile}, seed {plan.seed}, about {total / 60:.0f} min"]
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"  {number}. {step.title} (about {step.expected})")
        if isinstance(step, Measure | Drills):
            given = ", ".join(f"{key}={value}" for key, value in step.workload.parameters.items())
            lines.append(f"       load {step.workload.kind}({given})")
        if isinstance(step, Drills):
            lines += [f"       {strike.fault} on {strike.node}, limit {strike.limit}" for strike in step.strikes]
    return "\n".join(lines)
