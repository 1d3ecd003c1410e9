"""The fixture ``drill`` on a simulated site: a strike that the record holds is read, and one job at a time bears the cluster."""

from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from simulated_parts import Mark, SiteCatalog, cluster
from simulated_site import Site, SiteClock, SiteFleet

from chaos.engine.opening import open_or_resume
from chaos.engine.session import Session
from chaos.errors import PlanError
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_history
from chaos.ledger.writing import Ledger
from chaos.model.events import DrillEnded, RunClosed, WorkloadEnded, WorkloadStarted
from chaos.model.plans import Plan, WorkloadSpec
from chaos.pytest_plugin import incidents
from chaos.pytest_plugin.asked import Asked
from chaos.pytest_plugin.incidents import Drilling, Live, Recorded

PLAN = Plan("drills", "quick", 0, ())
TRAINING = WorkloadSpec("training", "train")
NODE = cluster()["node1"]


class SimulatedAsked(Asked):
    catalog = SiteCatalog()


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Sessions open the simulated site; its state and the record lie in a folder."""

    @contextmanager
    def opened(asked, plan):
        site = Site(tmp_path / "site.json")
        with Ledger(RunFolder(tmp_path / "run"), SiteClock(site)) as ledger:
            fence = open_or_resume(ledger, cluster(), plan, SiteClock(site))
            yield Session(cluster(), SiteCatalog(), SiteFleet(site, cluster()), ledger, SiteClock(site), fence=fence)
        site.save()

    monkeypatch.setattr(incidents, "opened", opened)
    return SimulatedAsked(None, tmp_path / "run", "quick", replay=False, dry_run=False)


@contextmanager
def drilling(asked):
    with ExitStack() as stack:
        yield Drilling(asked, Live(asked, PLAN, stack), lambda *_told: None)


def strike(asked, *nodes):
    with drilling(asked) as drill, drill.under(TRAINING) as job:
        assert job.checkpoint_interval == 10
        return [drill.strike(Mark(), on=node) for node in nodes]


def bodies(asked, kind):
    return [body for _, body in read_history(Path(asked.run)).of(kind)]


def test_a_strike_is_an_incident_whose_history_is_its_own(asked):
    first, second = strike(asked, NODE, cluster()["node2"])

    assert first.timeline.outcome == "recovered"
    assert (first.timeline.node, second.timeline.node) == ("node1", "node2")


def test_several_strikes_share_one_job_and_nothing_runs_at_the_end(asked):
    strike(asked, NODE, cluster()["node2"])

    assert len(bodies(asked, WorkloadStarted)) == len(bodies(asked, WorkloadEnded)) == 1
    assert [body.outcome for body in bodies(asked, RunClosed)] == ["finished"]


def test_a_strike_that_the_record_holds_is_not_repeated_and_starts_no_job(asked):
    strike(asked, NODE)
    strike(asked, NODE)

    assert len(bodies(asked, DrillEnded)) == 1
    assert len(bodies(asked, WorkloadStarted)) == 1


def test_what_was_struck_can_be_replayed(asked):
    strike(asked, NODE)
    drill = Drilling(asked, Recorded(read_history(Path(asked.run))), lambda *_told: None)

    with drill.under(TRAINING):
        assert drill.strike(Mark(), on=NODE).timeline.outcome == "recovered"


def test_no_strike_without_a_job(asked):
    with drilling(asked) as drill, pytest.raises(PlanError, match="no job runs"):
        drill.strike(Mark(), on=NODE)


def test_nothing_is_opened_until_something_is_struck(asked):
    with drilling(asked) as drill, drill.under(TRAINING):
        pass

    assert not Path(asked.run).exists()
