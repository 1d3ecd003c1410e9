"""Healthy, unhealthy, unknown: what each probe makes of an answer."""

import pytest
from isolated_node import NODE

from chaos.catalog import Catalog
from chaos.model.acts import Answer
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.probes.device_health import DeviceHealth
from chaos.probes.devices_match_inventory import DevicesMatchInventory
from chaos.probes.disk_space import DiskSpace
from chaos.probes.training_link_up import TrainingLinkUp

PLATFORM = Catalog.installed().platform(NODE)
DF = "Filesystem 1024-blocks Used Available Capacity Mounted on\noverlay of x 100 {used} {free} {used}% /\n"


def device(index=0, **changes):
    return {"index": index, "lost": False, "uuid": f"GPU-n1-{index}", "ecc_corrected": 0, "ecc_uncorrected": 0, **changes}


def link(name="chaos-t0", **changes):
    return {"interface": name, "is_up": True, "has_carrier": True, **changes}


@pytest.mark.parametrize(
    ("devices", "health"),
    [
        ((device(0), device(1)), "healthy"),
        ((device(1), device(0)), "healthy"),
        ((device(0),), "unhealthy"),
        ((device(0), device(1), device(2)), "unhealthy"),
        ((device(0), device(1, uuid="GPU-other")), "unhealthy"),
        ((device(0), device(1, uuid=None)), "unknown"),
        ((), "unhealthy"),
        (Unknown("NVML hangs"), "unknown"),
    ],
)
def test_accelerators_are_those_of_the_inventory(devices, health):
    assert DevicesMatchInventory().judge(NODE, devices).health == health


def test_an_inventory_without_accelerators_cannot_be_matched():
    assert DevicesMatchInventory().judge(Node("n", "n"), (device(),)).health == "unknown"
    assert DevicesMatchInventory().judge(Node("n", "n"), ()).health == "unknown"


@pytest.mark.parametrize(
    ("devices", "health"),
    [
        ((device(0), device(1)), "healthy"),
        ((device(0), {"index": 1, "lost": True}), "unhealthy"),
        ((device(0, ecc_uncorrected=1),), "unhealthy"),
        ((device(0, ecc_uncorrected=None),), "unknown"),
        ((), "unknown"),
        (Unknown("NVML hangs"), "unknown"),
    ],
)
def test_accelerators_are_healthy_only_when_they_say_so(devices, health):
    assert DeviceHealth().judge(NODE, devices).health == health


@pytest.mark.parametrize(
    ("links", "health"),
    [
        ((link(), link("lo")), "healthy"),
        ((link(is_up=False),), "unhealthy"),
        ((link(has_carrier=False),), "unhealthy"),
        ((link("lo"),), "unhealthy"),
        ((), "unhealthy"),
        (Unknown("no ip"), "unknown"),
    ],
)
def test_training_ports_are_up(links, health):
    assert TrainingLinkUp().judge(NODE, links).health == health


def test_a_node_without_training_ports_is_not_called_healthy():
    assert TrainingLinkUp().judge(Node("n", "n"), (link(),)).health == "unknown"


@pytest.mark.parametrize(
    ("answer", "health"),
    [
        (Answer(stdout=DF.format(used=95, free=5)), "healthy"),
        (Answer(stdout=DF.format(used=96, free=4)), "unhealthy"),
        (Answer(stdout=""), "unknown"),
        (Answer(stdout="Filesystem\n"), "unknown"),
        (Answer(stdout=DF.format(used="-", free="-")), "unknown"),
        (Answer(exit_status=None, timed_out=True, is_done=False), "unknown"),
    ],
)
def test_a_full_disk_is_seen_and_a_hanging_one_is_unknown(answer, health):
    probe = DiskSpace()

    assert probe.judge(NODE, probe.question(NODE, PLATFORM).read(answer)).health == health


def test_the_shared_storage_is_looked_at_too():
    question = DiskSpace().question(Node("n", "n", shared_storage="/shared"), PLATFORM)

    assert question.asks.argv[-2:] == ("/", "/shared")


@pytest.mark.parametrize("probe", [DevicesMatchInventory, DeviceHealth, TrainingLinkUp, DiskSpace])
def test_a_finding_names_probe_and_node_and_says_why(probe):
    finding = probe().judge(NODE, Unknown("no answer"))

    assert (finding.probe, finding.node, finding.health) == (probe.kind, "n1", "unknown")
    assert "no answer" in finding.sentence
