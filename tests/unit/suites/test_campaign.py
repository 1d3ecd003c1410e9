"""The campaign of the acceptance suite is a value: fixed by cluster, profile and seed, and fair to the nodes."""

import importlib.util
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from chaos.catalog import Catalog
from chaos.errors import PlanError
from chaos.inventory.reading import load
from chaos.model.nodes import Role, Severity
from chaos.model.plans import Drills
from chaos.protocols.fault import Expects

ROOT = Path(__file__).parents[3]
LAB = load(ROOT / "inventory" / "lab.yaml")


@pytest.fixture(scope="module")
def campaign():
    spec = importlib.util.spec_from_file_location("campaign", ROOT / "suites" / "acceptance" / "campaign.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def strikes(plan):
    (drills,) = [step for step in plan.steps if isinstance(step, Drills)]
    return drills.strikes


def test_the_same_seed_gives_the_same_plan_and_another_gives_another(campaign):
    assert campaign.plan(LAB, "quick", 1).digest == campaign.plan(LAB, "quick", 1).digest
    assert campaign.plan(LAB, "quick", 1).digest != campaign.plan(LAB, "quick", 2).digest


@pytest.mark.parametrize("seed", range(5))
def test_every_compute_node_is_struck_none_twice_in_a_row_and_the_head_never(campaign, seed):
    struck = [strike.node for strike in strikes(campaign.plan(LAB, "quick", seed))]

    assert set(struck) == {node.name for node in LAB.where(role=Role.COMPUTE)}
    assert all(first != second for first, second in pairwise(struck))


def test_faults_that_cost_a_node_are_apart(campaign):
    catalog = Catalog.installed()
    replaces = [catalog.fault(strike.fault).expects is Expects.REPLACE for strike in strikes(campaign.plan(LAB, "quick", 1))]

    assert replaces.count(True) >= 4
    assert not any(first and second for first, second in pairwise(replaces))


def test_the_lab_meets_eleven_faults_in_the_quick_profile_and_three_times_as_many_in_the_long_one(campaign):
    assert len(strikes(campaign.plan(LAB, "quick", 1))) == 11
    assert len(strikes(campaign.plan(LAB, "five-star", 1))) == 33


def test_what_the_inventory_does_not_allow_is_not_planned(campaign):
    careful = replace(LAB, nodes=tuple(replace(node, severity_allowed=Severity.SAFE) for node in LAB))

    kinds = {strike.fault.kind for strike in strikes(campaign.plan(careful, "quick", 1))}

    assert kinds == {"job.rank_killed", "job.rank_frozen", "job.straggler"}


def test_no_node_is_taken_from_a_job_without_a_spare(campaign):
    bare = replace(LAB, nodes=tuple(node for node in LAB if node.role is not Role.SPARE))

    kinds = {strike.fault.kind for strike in strikes(campaign.plan(bare, "quick", 1))}

    assert "host.crash" not in kinds
    assert "job.rank_killed" in kinds


def test_one_node_is_not_enough(campaign):
    with pytest.raises(PlanError, match="at least two compute nodes"):
        campaign.plan(replace(LAB, nodes=LAB.nodes[:1]), "quick", 1)
