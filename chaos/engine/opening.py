"""Opens a run: a new one, or the one that was interrupted."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from chaos.catalog import Catalog
from chaos.engine.clock import SystemClock
from chaos.engine.session import Session
from chaos.errors import ChaosError, PlanChanged, UsageError
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_record
from chaos.ledger.series import adopt_unsealed
from chaos.ledger.writing import Ledger
from chaos.model.events import Attached, Event, RunClosed, RunOpened, RunResumed
from chaos.model.nodes import Cluster, Role
from chaos.model.plans import Plan
from chaos.protocols.clock import Clock
from chaos.protocols.shell import Fleet


@contextmanager
def open_session(
    cluster: Cluster,
    catalog: Catalog,
    plan: Plan | None,
    folder: RunFolder,
    fleet_for: Callable[[str], Fleet],
    *,
    tell: Callable[[str], None] = lambda _text: None,
) -> Iterator[Session]:
    """An open session on a run folder, new or interrupted. ``fleet_for`` makes the way to the nodes for a run of that name.

    Without a plan an existing run is opened for undoing only: what was changed since it began does not matter then.

    Raises:
        PlanChanged: the folder holds a run with another plan or inventory.
        LeaseHeld: another process writes it.
    """
    clock = SystemClock()
    with Ledger(folder, clock) as ledger:
        fence = open_or_resume(ledger, cluster, plan, clock)
        fleet = fleet_for(folder.path.name)
        try:
            yield Session(cluster, catalog, fleet, ledger, clock, tell=tell, fence=fence)
        finally:
            fleet.close()


def open_or_resume(ledger: Ledger, cluster: Cluster, plan: Plan | None, clock: Clock) -> int:
    """The number of this start: 1 for a new run, one more for each time it was taken up again."""
    opening = next((event.body for event in ledger.events if isinstance(event.body, RunOpened)), None)
    if plan is None and opening is None:
        raise UsageError("open the run", where=str(ledger.folder.path), why="its record does not begin", todo="use `chaos sweep`")
    if plan is not None and opening is None:
        ledger.append(_opening(ledger.folder, cluster, plan))
        return 1
    if plan is not None and opening is not None:
        _check_same(opening, cluster, plan, ledger.folder)
    last = ledger.events[-1].stamp
    same_boot = last.incarnation == clock.stamp().incarnation
    ledger.append(RunResumed(last.monotonic, "" if same_boot else "the controller was booted again: its clock began anew"))
    known = [event.body.name for event in ledger.events if isinstance(event.body, Attached)]
    for attached in adopt_unsealed(ledger.folder, known):
        ledger.append(attached)
    return 1 + sum(1 for event in ledger.events if isinstance(event.body, RunResumed))


def _check_same(opening: RunOpened, cluster: Cluster, plan: Plan, folder: RunFolder) -> None:
    for what, before, now in (
        ("plan", opening.plan_digest, plan.digest),
        ("inventory", opening.inventory_digest, cluster.digest),
        ("code", opening.versions.get("code", ""), code_digest()),
    ):
        if before != now:
            raise PlanChanged(
                "go on with the run",
                where=str(folder.path),
                why=f"it was begun with another {what} ({before[:12]} then, {now[:12]} now)",
                todo="begin a new run with --new, or put back what was changed",
            )


def _opening(folder: RunFolder, cluster: Cluster, plan: Plan) -> RunOpened:
    return RunOpened(
        run_id=folder.path.name,
        purpose=plan.name,
        plan=plan.encode(),
        plan_digest=plan.digest,
        inventory_digest=cluster.digest,
        cluster=cluster.name,
        is_virtual=cluster.is_virtual,
        nodes=tuple(node.name for node in cluster.where(role=Role.COMPUTE)),
        spares=tuple(node.name for node in cluster.where(role=Role.SPARE)),
        contracted_slots=cluster.contracted_slots,
        seed=plan.seed,
        versions=versions(),
    )


def versions() -> dict[str, str]:
    """What this controller runs: its own version and code, and the parts that could change a result."""
    found = {"chaos": "source tree", "python": platform.python_version(), "kernel": platform.release(), "code": code_digest()}
    for name in ("chaos", "paramiko", "fabric", "scipy", "torch"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def code_digest() -> str:
    """SHA-256 over the installed source files, by relative path."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def choose_folder(runs: Path, cluster: Cluster, plan: Plan, *, new: bool) -> RunFolder:
    """The newest interrupted run of the same plan and inventory, or a new folder."""
    if not new:
        for folder in sorted(runs.glob("*/"), reverse=True):
            if _goes_on(folder, cluster, plan):
                return RunFolder(folder)
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{plan.profile}-{secrets.token_hex(2)}"
    return RunFolder(runs / name)


def _goes_on(folder: Path, cluster: Cluster, plan: Plan) -> bool:
    try:
        events: tuple[Event, ...] = read_record(RunFolder(folder).ledger).events
    except ChaosError:
        return False
    opening = next((event.body for event in events if isinstance(event.body, RunOpened)), None)
    if opening is None or any(isinstance(event.body, RunClosed) for event in events):
        return False
    return (opening.plan_digest, opening.inventory_digest, opening.versions.get("code")) == (
        plan.digest,
        cluster.digest,
        code_digest(),
    )
