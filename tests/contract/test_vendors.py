"""What every vendor and every reader of an ability keeps."""

import json

import pytest
from isolated_node import NODE

from chaos.catalog import Catalog
from chaos.model.acts import Answer, Question, Script
from chaos.model.nodes import Node
from chaos.model.unknown import Unknown
from chaos.protocols.ability import (
    AcceleratorHealth,
    AcceleratorSignals,
    FileControl,
    KernelLog,
    LinkControl,
    MemoryLimit,
    PacketFilter,
    PowerControl,
    ProcessControl,
)

CATALOG = Catalog.installed()
PLATFORM = CATALOG.platform(NODE)
SYSTEM = (LinkControl, PacketFilter, ProcessControl, MemoryLimit, KernelLog, FileControl)
CGROUP = {"version": 2, "root": "/sys/fs/cgroup", "path": "/sys/fs/cgroup/a", "pid": 1, "started": 2}
QUESTIONS: dict[str, Question] = {
    "link": PLATFORM[LinkControl].state("eth1"),
    "links": PLATFORM[LinkControl].overview(),
    "packets": PLATFORM[PacketFilter].state("chaos_x", ["10.0.0.2"]),
    "process": PLATFORM[ProcessControl].state(1, 2),
    "stopped": PLATFORM[ProcessControl].stopped_share(1, 2),
    "memory": PLATFORM[MemoryLimit].state(1, 2),
    "kills": PLATFORM[MemoryLimit].kills("x", CGROUP),
    "kernel log": PLATFORM[KernelLog].contains("Xid"),
    "devices": PLATFORM[AcceleratorHealth].devices(),
    "signals": PLATFORM[AcceleratorSignals].state(0),
    "file": PLATFORM[FileControl].state("/a"),
    "power": PLATFORM[PowerControl].state(),
}
SCRIPTS: dict[str, Script] = {
    "link restore": PLATFORM[LinkControl].restore("eth1", {"is_up": True, "mtu": 9000, "addresses": [], "routes": []}),
    "packets remove": PLATFORM[PacketFilter].remove("chaos_x"),
    "memory remove": PLATFORM[MemoryLimit].remove("x", CGROUP),
    "signals restore": PLATFORM[AcceleratorSignals].restore(0, {"lost": 0, "ecc_corrected": 1, "ecc_uncorrected": 2}),
    "file restore": PLATFORM[FileControl].restore("/a", "/a.chaos-backup", 5),
    "power on": PLATFORM[PowerControl].on(),
}


@pytest.mark.parametrize("kind", sorted(CATALOG.vendors))
def test_every_vendor_has_the_operating_system_below_it(kind):
    assert CATALOG.platform(Node("n", "n", vendor=kind)).lacks(SYSTEM) == ()


def test_power_is_offered_only_where_the_inventory_names_a_bmc():
    assert CATALOG.platform(Node("n", "n")).lacks((PowerControl,)) == ("PowerControl",)
    assert PLATFORM.lacks((PowerControl,)) == ()


def test_real_accelerators_can_be_read_but_not_made_to_lie():
    platform = CATALOG.platform(Node("n", "n", vendor="nvidia"))

    assert platform.lacks((AcceleratorHealth, AcceleratorSignals)) == ("AcceleratorSignals",)


@pytest.mark.parametrize(
    "text", ["", "null", "[1]", "[{}]", '{"exists": "yes"}', '{"devices": [{}]}', "error: timeout", "\x00", "maybe"]
)
@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "kernel log"])
def test_what_cannot_be_read_is_unknown(name, text):
    assert isinstance(QUESTIONS[name].read(Answer(stdout=text)), Unknown)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_answer_is_unknown(name):
    late = Answer(exit_status=None, timed_out=True, is_done=False, stdout="{}")
    lost = Answer(exit_status=None, error="No such file or directory", is_done=False)

    assert isinstance(QUESTIONS[name].read(late), Unknown)
    assert isinstance(QUESTIONS[name].read(lost), Unknown)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_way_back_tries_every_act_and_survives_the_record(name):
    assert SCRIPTS[name].keep_going
    assert Script.decode(json.loads(json.dumps(SCRIPTS[name].encode()))) == SCRIPTS[name]
