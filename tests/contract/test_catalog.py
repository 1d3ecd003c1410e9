"""What every entry of this installation's catalogue must keep, whoever wrote it."""

import re
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from chaos.catalog import Catalog
from chaos.inventory.reading import load
from chaos.model.nodes import Bmc, Node, Severity
from chaos.model.plans import FaultSpec, WorkloadSpec
from chaos.protocols.ability import Ability
from chaos.protocols.fault import Expects, Fidelity

CATALOG = Catalog.installed()
KIND = re.compile(r"[a-z][a-z0-9]*\.[a-z][a-z0-9_]*")
FAMILIES = ("faults", "vendors", "workloads", "launchers", "probes", "criteria", "power_drivers")
ENTRIES = [pytest.param(kind, id=f"{family}-{name}") for family in FAMILIES for name, kind in getattr(CATALOG, family).items()]
FAULTS = [pytest.param(kind, id=name) for name, kind in CATALOG.faults.items()]


@pytest.mark.parametrize("family", FAMILIES)
def test_this_installation_knows_something_of_each_family(family):
    assert getattr(CATALOG, family)


def test_the_lab_asks_for_nothing_unknown():
    assert CATALOG.gaps(load(Path(__file__).parents[2] / "inventory" / "lab.yaml")) == ()


def test_the_operating_system_is_a_platform():
    assert CATALOG.platform(Node("n", "n")).node.name == "n"


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_says_what_it_is_in_one_sentence(entry):
    first, *_ = (entry.__doc__ or "").strip().splitlines() or [""]

    assert not first.startswith(f"{entry.__name__}("), "the docstring is the one that dataclass makes"
    assert first.endswith(".")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_frozen_value_in_the_file_of_its_kind(fault):
    assert is_dataclass(fault)
    assert fault.__dataclass_params__.frozen
    assert KIND.fullmatch(fault.kind)
    if fault.__module__.startswith("chaos."):
        assert fault.__module__ == f"chaos.faults.{fault.kind}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_declares_what_a_reader_of_the_certificate_must_know(fault):
    assert isinstance(fault.severity, Severity)
    assert isinstance(fault.fidelity, Fidelity)
    assert isinstance(fault.expects, Expects)
    assert all(issubclass(need, Ability) for need in fault.needs)
    for words in (fault.catalogue_id, fault.title, fault.fault_class, fault.mechanism, fault.layer):
        assert isinstance(words, str)
        assert words


def test_no_two_faults_share_an_identifier():
    identifiers = [fault.catalogue_id for fault in CATALOG.faults.values()]

    assert sorted(identifiers) == sorted(set(identifiers))


@pytest.mark.parametrize("kind", list(CATALOG.faults))
def test_a_fault_can_be_built_again_from_what_the_plan_keeps_of_it(kind):
    fault = CATALOG.fault(FaultSpec(kind))

    assert CATALOG.fault(FaultSpec(kind, fault.parameters)) == fault


@pytest.mark.parametrize("kind", list(CATALOG.workloads))
def test_a_workload_can_be_built_without_parameters(kind):
    assert CATALOG.workload(WorkloadSpec("w", kind)).kind == kind


@pytest.mark.parametrize("kind", list(CATALOG.vendors))
def test_a_vendor_offers_abilities_for_a_bare_node(kind):
    platform = CATALOG.platform(Node("n", "n", vendor=kind, properties={"simulator_state": "/state"}))

    assert platform.lacks(()) == ()


@pytest.mark.parametrize("kind", list(CATALOG.power_drivers))
def test_a_power_driver_is_found_by_the_word_in_the_inventory(kind):
    assert CATALOG.power(Node("n", "n", bmc=Bmc(kind, "address"))).kind == kind
