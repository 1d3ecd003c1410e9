"""Accelerators as NVML shows them."""

import json

import pytest

from chaos.model.acts import Answer
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import AcceleratorSignals, Platform
from chaos.vendors.nvidia import Nvml
from chaos.vendors.nvidia_simulated import NvidiaSimulated

GOOD = {"index": 0, "lost": False, "error": 0, "uuid": "GPU-0", "ecc_corrected": 1, "ecc_uncorrected": 0, "temperature": 40}


def read(*devices, **more):
    return Nvml().devices().read(Answer(stdout=json.dumps({"devices": list(devices), **more})))


def test_a_healthy_device_has_identity_and_counters():
    assert read(GOOD)[0]["uuid"] == "GPU-0"


def test_a_lost_device_has_only_its_index():
    (device,) = read({"index": 3, "lost": True, "error": 15})

    assert (device["index"], device["lost"], device["uuid"], device["ecc_uncorrected"]) == (3, True, None, None)


def test_no_device_is_an_answer():
    assert read() == ()


@pytest.mark.parametrize(
    ("devices", "more"),
    [
        ([], {"error": "NVML cannot be loaded"}),
        ([GOOD], {"error": "NVML did not answer within 5 s"}),
        ([GOOD, {"index": 1, "lost": False, "error": 999}], {}),
        ([{"index": 0, "lost": 0}], {}),
        ([None], {}),
    ],
)
def test_whatever_nvml_does_not_say_is_unknown(devices, more):
    assert isinstance(read(*devices, **more), Unknown)


def test_a_simulator_puts_back_health_and_leaves_the_rest_alone():
    node = Node("n", "n", properties={"simulator_state": "/run/lab/nvml.state"})
    signals = Platform(node, NvidiaSimulated().abilities(node))[AcceleratorSignals]
    row = {"index": 1, "lost": 0, "ecc_corrected": 4, "ecc_uncorrected": 0, "temperature": 60}

    before = signals.state(1).read(Answer(stdout=json.dumps({"devices": [row]})))
    (act,) = signals.restore(1, before).acts

    assert json.loads(act.argv[-1]) == {"lost": 0, "ecc_corrected": 4, "ecc_uncorrected": 0}
    assert act.environment == {"FAKE_NVML_STATE": "/run/lab/nvml.state"}


def test_a_device_that_the_simulator_does_not_have_is_unknown():
    signals = Platform(Node("n", "n"), NvidiaSimulated().abilities(Node("n", "n")))[AcceleratorSignals]

    assert isinstance(signals.state(5).read(Answer(stdout='{"devices": []}')), Unknown)
