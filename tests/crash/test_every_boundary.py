"""The controller is killed at every boundary of a drill. Whatever happens next, no fault is left behind.

Three ways back are tried from each place of death: the guards alone, the same command again, and the record alone.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from simulated_parts import SiteCatalog, cluster
from simulated_site import MARK, Site, SiteClock, SiteFleet

from chaos.engine.campaign import carry_out
from chaos.engine.injecting import LEASE
from chaos.engine.opening import open_or_resume
from chaos.engine.reverting import open_injections, revert_all
from chaos.engine.session import Session
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_record
from chaos.ledger.writing import Ledger
from chaos.model.events import RunClosed
from chaos.model.injections import DrillEnded, InjectionMoved, InjectionState
from chaos.model.plans import Drills, FaultSpec, Plan, Preflight, Strike, WorkloadSpec
from chaos.model.quantities import seconds

STRIKE = Strike("d1", FaultSpec("test.mark"), "node1", 30 * seconds)
PLAN = Plan(
    "crash", "quick", 1,
    (Preflight(), Drills("drills", "Drills", WorkloadSpec("training", "train"), (STRIKE,))),
)  # fmt: skip


def session(place: Path, site: Site, ledger: Ledger) -> Session:
    fence = open_or_resume(ledger, cluster(), PLAN, SiteClock(site))
    return Session(cluster(), SiteCatalog(), SiteFleet(site, cluster()), ledger, SiteClock(site), fence=fence)


def run(place: Path, kill_at: int = 0) -> None:
    site = Site(place / "site.json", kill_at=kill_at)
    with Ledger(RunFolder(place / "run"), SiteClock(site)) as ledger:
        append = ledger.append

        def bounded(body):
            with site.boundary():
                return append(body)

        ledger.append = bounded
        carry_out(session(place, site, ledger), PLAN)
    site.save()


def killed_at(place: Path, boundary: int) -> bool:
    """Runs the plan in a process of its own that dies there; False when it came to its end before."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(place, boundary)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), f"the controller failed by itself at boundary {boundary}"
    return code == 9


def count_boundaries(place: Path) -> int:
    site = Site(place / "site.json")
    with Ledger(RunFolder(place / "run"), SiteClock(site)) as ledger:
        append = ledger.append

        def bounded(body):
            with site.boundary():
                return append(body)

        ledger.append = bounded
        carry_out(session(place, site, ledger), PLAN)
    return 2 * site.calls


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> range:
    return range(1, count_boundaries(tmp_path_factory.mktemp("whole")) + 1)


def test_an_undisturbed_run_strikes_recovers_and_leaves_nothing(tmp_path: Path) -> None:
    run(tmp_path)
    events = [event.body for event in read_record(tmp_path / "run" / "ledger.jsonl").events]
    states = [body.state for body in events if isinstance(body, InjectionMoved)]
    assert states == [InjectionState(name) for name in ("armed", "applied", "proven", "undone", "cleared")]
    assert [body.outcome for body in events if isinstance(body, DrillEnded)] == ["recovered"]
    assert isinstance(events[-1], RunClosed)
    assert Site(tmp_path / "site.json").is_clean


def test_the_guards_alone_leave_no_fault_behind(tmp_path: Path, boundaries: range) -> None:
    struck = 0
    for boundary in boundaries:
        place = tmp_path / str(boundary)
        place.mkdir()
        assert killed_at(place, boundary)
        site = Site(place / "site.json")
        struck += not site.is_clean
        site.pass_time(LEASE.seconds + 1)
        assert site.is_clean, f"killed at boundary {boundary}: the fault outlived its lease"
    assert struck > 3, "no boundary was hit while the fault was there: this test would prove nothing"


def test_the_same_command_goes_on_and_ends_the_run(tmp_path: Path, boundaries: range) -> None:
    for boundary in boundaries:
        place = tmp_path / str(boundary)
        place.mkdir()
        assert killed_at(place, boundary)
        events = read_record(place / "run" / "ledger.jsonl").events
        if any(isinstance(event.body, RunClosed) for event in events):
            continue
        run(place)
        record = read_record(place / "run" / "ledger.jsonl")
        assert isinstance(record.events[-1].body, RunClosed)
        assert open_injections(record.events) == (), f"killed at boundary {boundary}"
        assert Site(place / "site.json").is_clean
        assert [event.body.outcome for event in record.events if isinstance(event.body, DrillEnded)][-1] == "recovered"


def test_the_record_alone_is_enough_to_undo(tmp_path: Path, boundaries: range) -> None:
    for boundary in boundaries:
        place = tmp_path / str(boundary)
        place.mkdir()
        assert killed_at(place, boundary)
        site = Site(place / "site.json")
        site.state["guards"].clear()
        with Ledger(RunFolder(place / "run"), SiteClock(site)) as ledger:
            revert_all(session(place, site, ledger))
        assert site.is_clean, f"killed at boundary {boundary}"


def test_these_tests_would_see_a_fault_that_nobody_undoes(tmp_path: Path, boundaries: range) -> None:
    """The control: without guard and without record the fault stays, so the tests above can fail."""
    stays = 0
    for boundary in boundaries:
        place = tmp_path / str(boundary)
        place.mkdir()
        killed_at(place, boundary)
        site = Site(place / "site.json")
        site.state["guards"].clear()
        site.pass_time(LEASE.seconds + 1)
        stays += any(MARK in files for files in site.state["files"].values())
    assert stays > 3
