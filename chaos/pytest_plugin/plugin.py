"""Options, markers, hooks and fixtures of every suite.

Collection reads files and contacts nobody. What a test asks for is looked up in the record first; only ``drill`` touches nodes, and
never with ``--replay`` or ``--chaos-dry-run``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chaos.catalog import Catalog
from chaos.errors import ChaosError
from chaos.grading.profiles import Profile
from chaos.model.folding.one_drill import only_drill
from chaos.model.history import History
from chaos.model.nodes import Cluster
from chaos.model.plans import Plan, WorkloadSpec
from chaos.model.timeline import Timeline
from chaos.model.verdicts import Judgement, Verdict
from chaos.protocols.criterion import Criterion
from chaos.pytest_plugin.asked import ASKED, Asked, asked_of
from chaos.pytest_plugin.collecting import check_number_of_nodes, criteria, generate
from chaos.pytest_plugin.examinations import Examination, examine
from chaos.pytest_plugin.incidents import Drilling, Incident, Live, Recorded

_MARKERS = (
    "acceptance: grades a finished run",
    "drill: breaks something on purpose and watches the recovery",
    "qualification: looks at single parts and breaks nothing",
    "each_node(role=None, vendor=None): once for each node of the inventory with this role and vendor",
    "needs(*abilities, nodes=1): abilities that the node's platform must offer, and how many compute nodes there must be",
    "severity(name): how much the test may cost: safe, disruptive or destructive",
)
_TOLD = pytest.StashKey[set[str]]()
"""Drills that Allure was told of in the test that runs: several requirements of one drill share its picture."""
_REFUSED = pytest.StashKey[bool]()
"""Whether what was asked for cannot be collected: no node, criterion or drill matches."""
_FAMILIES = ("acceptance", "drill", "qualification")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of every suite."""
    group = parser.getgroup("chaos", "acceptance of GPU clusters")
    group.addoption("--inventory", type=Path, metavar="FILE", help="the cluster; collection contacts nobody")
    group.addoption("--run", type=Path, metavar="DIR", help="run folder: steps that its record holds are read, not repeated")
    group.addoption(
        "--profile", default="quick", metavar="NAME", help="profile that grades: a name under suites/profiles or a file"
    )
    group.addoption("--replay", action="store_true", help="grade what the record holds; touch no node")
    group.addoption("--chaos-dry-run", action="store_true", help="say what would be injected; touch no node")


def pytest_configure(config: pytest.Config) -> None:
    """Registers markers and keeps what was asked for."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    option = config.option
    config.stash[ASKED] = Asked(option.inventory, option.run, option.profile, option.replay, option.chaos_dry_run)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each node, criterion or drill that a test function asks for."""
    try:
        generate(metafunc)
    except ChaosError as error:
        metafunc.config.stash[_REFUSED] = True
        raise pytest.Collector.CollectError(str(error)) from error


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses an inventory that is too small."""
    try:
        check_number_of_nodes(asked_of(config), items)
    except ChaosError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_make_parametrize_id(val: object) -> str | None:
    """Faults and criteria are called by their own words."""
    kind = getattr(val, "kind", None)
    return str(val) if isinstance(kind, str) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Tells Allure what the test is about, once its result exists and before the test can fail."""
    family = next((name for name in _FAMILIES if item.get_closest_marker(name)), None)
    if family is None or not _is_told_in_allure(item.config):
        return
    from chaos.reports.allure_story import tell_test, tell_verdict  # noqa: PLC0415 - only where Allure is asked for

    item.config.stash[_TOLD] = set()
    found = getattr(item, "funcargs", {})
    if "verdict" in found:
        tell_verdict(found["verdict"], found["history"])
    else:
        tell_test("" if {"incident", "drill"} & found.keys() else family, item.name)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Puts categories, environment and executor beside the results of Allure; what cannot be collected is a mistake in usage."""
    if session.config.stash.get(_REFUSED, False):
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
    folder = session.config.getoption("--alluredir", default=None)
    if not folder or session.config.option.collectonly:
        return
    from chaos.reports import allure_files  # noqa: PLC0415 - only where Allure is asked for

    asked = asked_of(session.config)
    Path(folder).mkdir(parents=True, exist_ok=True)
    allure_files.write(Path(folder), asked.known("judgement"), asked.known("history"))


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """The cluster of the inventory."""
    return asked_of(request.config).cluster


@pytest.fixture(scope="session")
def catalog(request: pytest.FixtureRequest) -> Catalog:
    """What this installation knows."""
    return asked_of(request.config).catalog


@pytest.fixture(scope="session")
def profile(request: pytest.FixtureRequest) -> Profile:
    """The profile that grades."""
    return asked_of(request.config).profile


@pytest.fixture(scope="session")
def history(request: pytest.FixtureRequest) -> History:
    """The record of the run."""
    return asked_of(request.config).history


@pytest.fixture(scope="session")
def judgement(request: pytest.FixtureRequest) -> Judgement:
    """All verdicts of the profile over the record."""
    return asked_of(request.config).judgement


@pytest.fixture(scope="session")
def requirement(request: pytest.FixtureRequest) -> Callable[[str], Criterion]:
    """The criterion of a kind as the profile asks for it; by default as it stands where the profile does not grade it."""
    return asked_of(request.config).requirement


@pytest.fixture
def criterion(request: pytest.FixtureRequest) -> str:
    """One criterion of the profile, by name."""
    return str(request.param)


@pytest.fixture
def verdict(request: pytest.FixtureRequest, criterion: str, judgement: Judgement, history: History) -> Verdict:
    """What the profile's criterion says about the run. The history is there for whoever shows the evidence."""
    del history
    return judgement.verdicts[criteria(asked_of(request.config)).index(criterion)]


@pytest.fixture
def incident(request: pytest.FixtureRequest, history: History) -> Incident:
    """One drill of the record."""
    name = str(request.param)
    return Incident(name, only_drill(history, name), _teller(request.config))


@pytest.fixture(scope="session")
def training() -> WorkloadSpec:
    """A training job with checkpoints, paced so that steps can be counted."""
    return WorkloadSpec("training", "training", {"pace": "200ms", "checkpoint_interval": 10})


@pytest.fixture(scope="session")
def all_reduce() -> WorkloadSpec:
    """A sweep of all-reduces with exact sums."""
    return WorkloadSpec("allreduce", "all-reduce")


@pytest.fixture(scope="session")
def examination(request: pytest.FixtureRequest) -> Examination:
    """What was found on the nodes without breaking anything: read with ``--replay``, else done now."""
    asked = asked_of(request.config)
    if asked.replay:
        return Examination(asked.history, asked.catalog)
    return Examination(examine(asked), asked.catalog)


@pytest.fixture(scope="session")
def drill(request: pytest.FixtureRequest) -> Iterator[Drilling]:
    """Strikes under a job; see :class:`Drilling`. Whatever happens, faults are undone and nothing stays on a node."""
    asked = asked_of(request.config)
    with ExitStack() as stack:
        plan = Plan("drills", asked.profile_name, 0, ())
        site = Recorded(asked.history) if asked.replay else Live(asked, plan, stack)
        yield Drilling(asked, site, _teller(request.config))


def _is_told_in_allure(config: pytest.Config) -> bool:
    return bool(config.getoption("--alluredir", default=None))


def _teller(config: pytest.Config) -> Any:
    def tell(timeline: Timeline, verdict: Verdict, history: History) -> None:
        if not _is_told_in_allure(config):
            return
        from chaos.reports.allure_story import tell_recovery, tell_requirement  # noqa: PLC0415

        told = config.stash[_TOLD]
        if timeline.drill not in told:
            tell_recovery(timeline, history)
            told.add(timeline.drill)
        tell_requirement(verdict)

    return tell
