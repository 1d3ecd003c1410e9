"""``chaos faults``: what can be broken, how truly, and where it fits."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos.catalog import Catalog, known, parameter_types
from chaos.cli.output import write_json, write_table
from chaos.errors import UsageError
from chaos.inventory.reading import load
from chaos.model.nodes import Node, Role
from chaos.model.spelling import suggestion
from chaos.protocols.ability import Platform
from chaos.protocols.fault import Fault

app = typer.Typer(no_args_is_help=True, help="What can be broken, how truly, and where it fits.")

Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@app.command("list")
def list_(
    *,
    node: Annotated[str, typer.Option("--node", help="Say which faults fit this node.", show_default=False)] = "",
    inventory: Annotated[
        Path | None, typer.Option("--inventory", envvar="CHAOS_INVENTORY", help="Where the node stands.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the faults of this installation."""
    catalog = Catalog.installed()
    rows = [described(fault) for fault in catalog.faults.values()]
    if node:
        target = _node(node, inventory)
        platform = catalog.platform(target)
        for row, fault in zip(rows, catalog.faults.values(), strict=True):
            row["obstacles"] = obstacles(fault, target, platform)
    if json:
        write_json("faults", {"faults": rows})
        return
    columns = ["KIND", "ID", "TITLE", "SEVERITY", "FIDELITY", "NEEDS"]
    table = [[_cell(row[column.lower()]) for column in columns] for row in rows]
    if node:
        columns.append(f"FITS {node}")
        table = [[*line, "; ".join(row["obstacles"]) or "yes"] for line, row in zip(table, rows, strict=True)]
    write_table(columns, table)


@app.command()
def show(kind: Annotated[str, typer.Argument(help="Such as nic.flap.")], *, json: Json = False) -> None:
    """Show all that is known of one fault."""
    description = described(known(Catalog.installed().faults, kind, "fault"))
    if json:
        write_json("fault", {"fault": description})
        return
    typer.echo(f"{description['kind']}: {description['title']}\n\n{description['text']}\n")
    wanted = (
        "id",
        "class",
        "severity",
        "fidelity",
        "mechanism",
        "layer",
        "needs",
        "needs_job",
        "is_lasting",
        "is_out_of_band",
        "expects",
    )
    write_table(("PROPERTY", "VALUE"), [(name.replace("_", " "), _cell(description[name])) for name in wanted])
    if description["parameters"]:
        typer.echo()
        table = [(each["name"], each["type"], each["default"]) for each in description["parameters"]]
        write_table(("PARAMETER", "TYPE", "DEFAULT"), table)


def described(fault: type[Fault]) -> dict[str, Any]:
    """A fault's declarations as plain values."""
    return {
        "kind": fault.kind,
        "id": fault.catalogue_id,
        "title": fault.title,
        "text": inspect.getdoc(fault) or "",
        "class": fault.fault_class,
        "severity": str(fault.severity),
        "fidelity": str(fault.fidelity),
        "mechanism": fault.mechanism,
        "layer": fault.layer,
        "needs": [need.__name__ for need in fault.needs],
        "needs_job": fault.needs_job,
        "is_lasting": fault.is_lasting,
        "is_out_of_band": fault.is_out_of_band,
        "expects": str(fault.expects),
        "parameters": parameters(fault),
    }


def parameters(kind: type) -> list[dict[str, str]]:
    """The parameters of a catalogue class: name, type, default."""
    types = parameter_types(kind)
    defaults = {each.name: each.default for each in fields(kind)} if is_dataclass(kind) else {}
    return [
        {"name": name, "type": getattr(wanted, "__name__", str(wanted)), "default": _default(defaults.get(name, MISSING))}
        for name, wanted in types.items()
    ]


def _default(value: Any) -> str:
    return "(required)" if value is MISSING else str(value)


def obstacles(fault: type[Fault], node: Node, platform: Platform) -> list[str]:
    """Why this fault cannot strike this node; nothing when it can."""
    told = [f"lacks {ability}" for ability in platform.lacks(fault.needs)]
    if fault.severity > node.severity_allowed:
        told.append(f"{fault.severity} is not allowed there")
    if node.role is Role.HEAD:
        told.append("the head is never a target")
    return told


def _node(name: str, inventory: Path | None) -> Node:
    if inventory is None:
        raise UsageError("say which faults fit a node", why="no inventory is given", todo="add --inventory FILE")
    cluster = load(inventory)
    try:
        return cluster[name]
    except KeyError:
        todo = suggestion(name, (each.name for each in cluster))
        raise UsageError(f"find the node {name!r}", where=str(inventory), why="it is not in the inventory", todo=todo) from None


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (", ".join(value) or "-") if isinstance(value, list) else str(value)
