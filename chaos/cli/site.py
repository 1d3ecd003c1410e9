"""What every command that touches a site needs: the inventory, the catalogue, a run folder and a way to the nodes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from chaos.catalog import Catalog
from chaos.engine.opening import choose_folder, open_session
from chaos.engine.session import Session
from chaos.inventory.reading import load
from chaos.ledger.folder import RunFolder
from chaos.model.nodes import Cluster
from chaos.model.plans import Plan
from chaos.protocols.shell import Fleet

RUNS = Path("runs")


def tell(text: str) -> None:
    """Talk goes to stderr; stdout is for data."""
    typer.echo(text, err=True)


def over_ssh(run_id: str) -> Fleet:
    """The way to real nodes; SSH is loaded only when it is used."""
    from chaos.transport.fleet import SshFleet  # noqa: PLC0415 - commands that touch no node start faster without it

    return SshFleet(run_id)


def site(inventory: Path) -> tuple[Cluster, Catalog]:
    """The cluster of an inventory, and what this installation knows."""
    return load(inventory), Catalog.installed()


@contextmanager
def open_run(cluster: Cluster, catalog: Catalog, plan: Plan | None, *, run: Path | None, new: bool) -> Iterator[Session]:
    """A session on the named run, on the interrupted one with the same plan, or on a new one. SIGTERM acts like Ctrl-C."""
    folder = choose_folder(RUNS, cluster, plan, new=new) if run is None and plan is not None else RunFolder(run or RUNS)
    tell(f"run {folder.path}" + (" goes on" if folder.ledger.exists() else ""))
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with open_session(cluster, catalog, plan, folder, over_ssh, tell=tell) as session:
            yield session
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
