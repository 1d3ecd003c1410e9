"""``chaos inventory``: read an inventory file without contacting anybody."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos.catalog import Catalog
from chaos.cli.output import say, write_json, write_table
from chaos.errors import PlanError
from chaos.inventory.reading import load
from chaos.model.nodes import Cluster, Node, Role, Severity, fold

app = typer.Typer(no_args_is_help=True, help="Check and show an inventory file. Nobody is contacted.")

File = Annotated[Path, typer.Argument(envvar="CHAOS_INVENTORY", help="The inventory file.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@app.command()
def check(file: File, *, json: Json = False) -> None:
    """Find every mistake in an inventory, with its line, and every kind that this installation does not know."""
    cluster = load(file)
    gaps = Catalog.installed().gaps(cluster)
    if json:
        write_json("inventory.check", {"file": str(file), "nodes": len(cluster), "sha256": cluster.digest, "unknown": gaps})
    if gaps:
        todo = "install what is missing, or correct the inventory"
        raise PlanError("use this inventory", where=str(file), why="".join(f"\n  {gap}" for gap in gaps), todo=todo)
    if not json:
        say(f"{file}: {summary(cluster)}: ok")


@app.command()
def show(file: File, *, json: Json = False) -> None:
    """Show a cluster as it was understood: ranges, patterns and defaults resolved, nodes folded."""
    cluster = load(file)
    if json:
        write_json("inventory", {"cluster": asdict(cluster, dict_factory=_named)})
        return
    typer.echo(f"{cluster.name}{' (virtual)' if cluster.is_virtual else ''}: {cluster.description or summary(cluster)}")
    typer.echo(f"{summary(cluster)}; launcher {cluster.launcher}; sha256 {cluster.digest[:12]}\n")
    columns = ("NODES", "ROLE", "ADDRESSES", "VENDOR", "ACCELERATORS", "TRAINING", "RACKS", "ALLOWED", "BMC")
    write_table(columns, _rows(cluster))


def _named(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Severities by their name: a number would mean nothing to a reader."""
    return {key: str(value) if isinstance(value, Severity) else value for key, value in items}


def summary(cluster: Cluster) -> str:
    """The size of a cluster in one line."""
    counts = {role: len(cluster.where(role=role)) for role in Role}
    told = [f"{count} {role}" for role, count in counts.items() if count]
    return f"{len(cluster)} nodes ({', '.join(told)}), {cluster.contracted_slots} contracted slots"


def _rows(cluster: Cluster) -> list[tuple[str, ...]]:
    """Nodes that differ only in names, addresses and racks share a row."""
    alike: dict[tuple[str, ...], list[Node]] = {}
    for node in cluster:
        ports = fold(port.name for port in node.training)
        bmc = node.bmc.driver if node.bmc else "-"
        key = (node.role, node.vendor, _devices(node), ports or "-", str(node.severity_allowed), bmc)
        alike.setdefault(key, []).append(node)
    return [
        (
            fold(node.name for node in nodes),
            role,
            fold(node.address for node in nodes),
            vendor,
            devices,
            ports,
            fold(node.domains.rack for node in nodes if node.domains.rack) or "-",
            severity,
            bmc,
        )
        for (role, vendor, devices, ports, severity, bmc), nodes in alike.items()
    ]


def _devices(node: Node) -> str:
    models = sorted({device.model for device in node.accelerators if device.model})
    return f"{len(node.accelerators)} x {', '.join(models) or 'unnamed'}" if node.accelerators else "-"
