"""``chaos lab``: the virtual cluster."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Annotated, Any

import typer

from chaos.cli.site import tell
from chaos.errors import UsageError
from chaos.lab.lifecycle import ask, is_up, known, wait_for_ssh
from chaos.lab.lifecycle import down as take_down
from chaos.lab.lifecycle import up as bring_up
from chaos.lab.plan import DEFAULT_NAME, LabPlan, plan_lab
from chaos.lab.probe import probe

app = typer.Typer(
    help="A virtual cluster on this machine: real SSH, networks and processes, simulated accelerators.", no_args_is_help=True
)

Name = Annotated[str, typer.Option("--name", help="Name of the lab; several can be up when their networks differ.")]
NodeName = Annotated[str, typer.Argument(help="Node, such as node1.")]


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    nodes: Annotated[int, typer.Option(help="Compute nodes.")] = 4,
    spares: Annotated[int, typer.Option(help="Spare nodes.")] = 1,
    gpus: Annotated[int, typer.Option(help="Simulated accelerators per node.")] = 2,
    management: Annotated[str, typer.Option(help="Management network.")] = "10.77.0.0/16",
    training: Annotated[str, typer.Option(help="Training network.")] = "10.78.0.0/16",
) -> None:
    """Bring the lab up. The inventory to use is printed on stdout."""
    lab = plan_lab(name=name, nodes=nodes, spares=spares, gpus=gpus, management=management, training=training)
    bring_up(lab, tell=tell)
    typer.echo(f"{lab.state}/inventory.yaml")


@app.command()
def down(name: Name = DEFAULT_NAME) -> None:
    """Take the lab down, or what a killed one left."""
    take_down(known(name), tell=tell)


@app.command()
def status(
    name: Name = DEFAULT_NAME, *, as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False
) -> None:
    """Say which nodes have power, and what this machine cannot do."""
    lab, ground = known(name), probe()
    seen: dict[str, Any] = {"name": name, "nodes": []}
    if is_up(lab):
        seen = ask(f"{lab.state}/supervisor.sock", {"do": "status"})
    if as_json:
        typer.echo(json.dumps({"is_up": is_up(lab), **seen, "ground": asdict(ground)}))
        return
    typer.echo(f"lab {name} is {'up' if is_up(lab) else 'down'}; tier {ground.tier}{': ' + ground.why if ground.why else ''}")
    for node in seen["nodes"]:
        typer.echo(
            f"  {node['name']:8} {node['role']:8} {node['management']:12} {node['training']:12} {'on' if node['is_on'] else 'OFF'}"
        )
    for ability in ground.missing_abilities:
        typer.echo(f"  this kernel has no {ability}")


@app.command(context_settings={"ignore_unknown_options": True})
def ssh(
    node: NodeName,
    command: Annotated[list[str] | None, typer.Argument(help="Command; a shell without one.")] = None,
    name: Name = DEFAULT_NAME,
) -> None:
    """Log in to a node."""
    lab = _up(name)
    lab.node(node)
    os.execvp("ssh", ["ssh", "-F", f"{lab.state}/ssh_config", node, *(command or [])])


@app.command()
def crash(
    node: NodeName,
    name: Name = DEFAULT_NAME,
    *,
    loud: Annotated[bool, typer.Option(help="Leave the cables in: peers see the connections close.")] = False,
) -> None:
    """Take a node's power away, silently unless told otherwise."""
    _ask(name, {"do": "crash", "node": node, "loud": loud})


@app.command()
def boot(node: NodeName, name: Name = DEFAULT_NAME) -> None:
    """Give a node power and wait for its sshd."""
    _ask(name, {"do": "boot", "node": node})
    wait_for_ssh(known(name).node(node))


@app.command()
def reset(node: NodeName, name: Name = DEFAULT_NAME) -> None:
    """Crash and boot a node: it comes up as new."""
    crash(node, name)
    boot(node, name)


@app.command()
def cable(
    node: NodeName,
    network: Annotated[str, typer.Argument(help="management or training")],
    state: Annotated[str, typer.Argument(help="in or out")],
    name: Name = DEFAULT_NAME,
) -> None:
    """Plug or pull a cable at the far end."""
    if state not in {"in", "out"}:
        raise UsageError("move a cable", where=node, why=f"{state!r} is neither in nor out")
    _ask(name, {"do": "cable", "node": node, "network": network, "plugged": state == "in"})


def _up(name: str) -> LabPlan:
    lab = known(name)
    if not is_up(lab):
        raise UsageError("use the lab", where=name, why="it is not up", todo="bring it up with `chaos lab up`")
    return lab


def _ask(name: str, request: dict[str, object]) -> None:
    ask(f"{_up(name).state}/supervisor.sock", request)
