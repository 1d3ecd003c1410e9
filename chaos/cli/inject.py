"""``chaos inject``, ``revert``, ``sweep`` and ``stop``: one fault by hand, and every way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos.catalog import Catalog
from chaos.cli.site import open_run, over_ssh, site, tell
from chaos.engine.injecting_alone import hold_fault, target_on
from chaos.engine.preflight import sweep as sweep_nodes
from chaos.engine.reverting import open_injections, revert_all
from chaos.errors import ChaosError, PlanError, SiteError, UsageError
from chaos.inventory.notation import hosts
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_record
from chaos.model.acts import Script
from chaos.model.nodes import Cluster, Node
from chaos.model.plans import FaultSpec, Plan
from chaos.model.quantities import Duration
from chaos.protocols.fault import Fault, Target

Inventory = Annotated[Path, typer.Option("--inventory", "-i", help="Inventory of the site.", envvar="CHAOS_INVENTORY")]
Nodes = Annotated[str, typer.Option("--nodes", "-w", help="Node set, such as gpu[001-016]; all by default.")]


def inject(
    kind: Annotated[str, typer.Argument(help="Kind of the fault: see `chaos faults list`.")],
    inventory: Inventory,
    node: Annotated[str, typer.Option(help="Node to strike.")],
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="key=value, as in `chaos faults show`.")
    ] = None,
    hold: Annotated[str, typer.Option(help="How long the fault is held before it is undone.")] = "30s",
    pid: Annotated[int | None, typer.Option(help="Process that plays the rank, for faults of a job.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Inject one fault, prove it, hold it, undo it and prove that it is gone."""
    cluster, catalog = site(inventory)
    fault = catalog.fault(FaultSpec(kind, _parameters(parameter or [])))
    place = _node(cluster, node)
    span = _span(hold)
    plan = Plan(f"inject {fault} on {node}", "none", 0, ())
    if dry_run:
        _print_plan(catalog, fault, place, span)
        return
    if not yes and not typer.confirm(f"Inject {fault} ({fault.severity}, {fault.fidelity}) on {node} for {span}?", err=True):
        raise typer.Abort
    with open_run(cluster, catalog, plan, run=None, new=True) as session:
        outcome = session.reach(place)
        if isinstance(outcome, ChaosError):
            raise outcome
        hold_fault(session, fault, target_on(session, place, "by-hand", pid=pid), span)
        session.fleet.shell(place.name).leave()


def revert(
    run: Annotated[Path, typer.Argument(help="Folder of the run whose faults are to be undone.")],
    inventory: Inventory,
) -> None:
    """Undo every fault that the record of a run shows as open. Works without the code of the fault."""
    cluster, catalog = site(inventory)
    record = read_record(RunFolder(run).ledger)
    opened = open_injections(record.events)
    if not opened:
        tell(f"{run}: no fault is open")
        return
    with open_run(cluster, catalog, None, run=run, new=False) as session:
        for name in {each.intended.node for each in opened}:
            session.reach(cluster[name])
        count = revert_all(session)
    tell(f"{count} faults undone and seen to be gone")


def sweep(
    inventory: Inventory,
    nodes: Nodes = "",
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what is left.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find what any run left on nodes, undo and remove it. Needs no record: the nodes know."""
    cluster, catalog = site(inventory)
    named = set(hosts(nodes)) if nodes else set()
    chosen = [node for node in cluster if not named or node.name in named]
    if not chosen:
        raise PlanError("sweep", where=nodes, why="no node of the inventory has such a name", todo="see `chaos inventory show`")
    found = _found(chosen) if dry_run else _swept(cluster, catalog, chosen)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        for name, left in found.items():
            typer.echo(f"{name}: {', '.join(left) if left else 'clean'}")
    if any(left for left in found.values()) and not dry_run:
        raise SiteError("clean every node", why="something is left", todo="reboot these nodes or clean them by hand")


def stop(run: Annotated[Path, typer.Argument(help="Folder of the run to stop.")]) -> None:
    """Ask a running run to stop: it undoes every fault first. The same command goes on with it later."""
    if not RunFolder(run).ledger.exists():
        raise UsageError("stop a run", where=str(run), why="there is no run in this folder", todo="name a folder under runs/")
    (run / "stop").touch()
    tell(f"{run}: asked to stop")


def _found(nodes: list[Node]) -> dict[str, list[str]]:
    fleet = over_ssh("sweep")
    try:
        outcomes = fleet.reach(nodes)
        return {
            name: [str(outcome)] if isinstance(outcome, ChaosError) else list(outcome.sweep(remove=False))
            for name, outcome in outcomes.items()
        }
    finally:
        fleet.close()


def _swept(cluster: Cluster, catalog: Catalog, nodes: list[Node]) -> dict[str, list[str]]:
    plan = Plan("sweep", "none", 0, ())
    with open_run(cluster, catalog, plan, run=None, new=True) as session:
        reached = [node for node in nodes if not isinstance(session.reach(node), ChaosError)]
        sweep_nodes(session, reached)
        for node in reached:
            if node.name not in session.quarantined:
                session.fleet.shell(node.name).leave()
        names = {node.name for node in reached} - session.quarantined
        return {node.name: [] if node.name in names else ["not reached or not clean: see the ledger"] for node in nodes}


def _print_plan(catalog: Catalog, fault: Fault, node: Node, hold: Duration) -> None:
    """What would be done. The snapshot is taken on the node, so its values stand here by name."""
    target = Target(node, catalog.platform(node), injection="by-hand")
    missing = target.platform.lacks(fault.needs)
    typer.echo(f"{fault} on {node}: {fault.severity}, {fault.fidelity}, by {fault.mechanism}, for {hold}")
    if missing:
        typer.echo(f"  not applicable here: the platform lacks {', '.join(missing)}")
        return
    try:
        typer.echo(f"  snapshot: {fault.before(target)}")
        _print_script("apply", fault.apply(target, _ByName()))
        _print_script("undo", fault.undo(target, _ByName()))
        typer.echo(f"  proof: {fault.presence(target, _ByName())}")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        typer.echo(f"  the rest depends on what the snapshot finds or on a running job: {error}")


class _ByName(dict[str, Any]):
    """A snapshot that was not taken: each value stands by its name."""

    def __missing__(self, key: str) -> str | list[str]:
        return [f"<{key}>"] if key == "addresses" else [] if key == "routes" else f"<{key}>"


def _print_script(name: str, script: Script) -> None:
    for act in script.acts:
        typer.echo(f"  {name}: {act}")


def _parameters(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign:
            raise UsageError("read a parameter", where=pair, why="it is not key=value", todo="write it like -p down_for=1s")
        found[key] = value
    return found


def _node(cluster: Cluster, name: str) -> Node:
    try:
        return cluster[name]
    except KeyError:
        raise PlanError(
            "find the node", where=name, why=f"the inventory has {cluster}", todo="see `chaos inventory show`"
        ) from None


def _span(text: str) -> Duration:
    try:
        return Duration.parse(text)
    except ValueError as error:
        raise UsageError("read --hold", why=str(error)) from error
