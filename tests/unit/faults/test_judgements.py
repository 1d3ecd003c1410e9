"""What the proofs take for the fault, for its absence, and for neither."""

import json
from dataclasses import replace

import pytest
from isolated_node import NODE, PEER

from chaos.catalog import Catalog
from chaos.errors import Unsupported
from chaos.faults.gpu.ecc_double_bit import EccDoubleBit
from chaos.faults.gpu.off_the_bus import OffTheBus
from chaos.faults.host.crash import Crash
from chaos.faults.job.rank_frozen import RankFrozen
from chaos.faults.job.straggler import Straggler
from chaos.faults.memory.oom import OutOfMemory
from chaos.faults.nic.flap import Flap
from chaos.faults.nic.link_down import LinkDown
from chaos.faults.nic.partition import Partition
from chaos.faults.storage.checkpoint_truncated import CheckpointTruncated
from chaos.model.acts import Answer, SignalProcess, StopSpawned
from chaos.model.unknown import Unknown
from chaos.protocols.fault import RankProcess, Target

TARGET = Target(NODE, Catalog.installed().platform(NODE), (RankProcess(0, 0, 7, 8),), (PEER,), "/shared/c", "d1")
LINK = {
    "exists": True, "interface": "chaos-t0", "operstate": "up", "is_up": True, "carrier": 1, "carrier_changes": 4, "mtu": 1500,
    "addresses": ["10.211.7.1/24"], "routes": [],
}  # fmt: skip
RANK = {"rank": 0, "pid": 7, "started": 8, "state": "R"}
CGROUP = {"version": 1, "root": "/cg", "path": "/cg/job", "pid": 7, "started": 8}
CUT = {"exists": True, "size": 100, "sha256": "aa", "path": "/shared/c", "cut_to": 50, "pid": 7, "started": 8}
HEALTHY = {"lost": 0, "ecc_corrected": 0, "ecc_uncorrected": 3}


def presence(fault, before, **answer):
    return fault.presence(TARGET, before).read(Answer(stdout=json.dumps(answer)))


def device(**changes):
    return {"index": 0, "lost": False, "error": 0, "uuid": "u", "ecc_corrected": 0, "ecc_uncorrected": 3, **changes}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, False),
        ({"is_up": False, "carrier": None, "operstate": "down"}, True),
        ({"carrier": 0, "operstate": "down"}, True),
        ({"carrier": None}, Unknown),
    ],
)
def test_a_port_is_down_without_administration_or_without_carrier(changes, wanted):
    found = presence(LinkDown(), LINK, **{**LINK, **changes})

    assert isinstance(found, Unknown) if wanted is Unknown else found is wanted


@pytest.mark.parametrize(("changes", "flapped"), [(4, False), (5, False), (6, True), (8, True)])
def test_a_port_flapped_when_the_carrier_was_lost_and_came_back(changes, flapped):
    assert presence(Flap(), LINK, **{**LINK, "carrier_changes": changes}) is flapped


@pytest.mark.parametrize("changes", [{"is_up": False}, {"carrier": 0}, {"addresses": []}])
@pytest.mark.parametrize("fault", [LinkDown(), Flap()])
def test_a_port_that_is_not_whole_before_cannot_be_struck(fault, changes):
    assert isinstance(fault.before(TARGET).read(Answer(stdout=json.dumps({**LINK, **changes}))), Unknown)


@pytest.mark.parametrize(
    ("table", "answers", "wanted"), [(True, False, True), (False, True, False), (True, True, None), (False, False, None)]
)
def test_a_partition_is_a_table_of_ours_and_silence(table, answers, wanted):
    before = {"interface": "chaos-t0", "peers": [PEER], "answering": [PEER]}

    found = presence(Partition(), before, table=table, answers={PEER: answers})

    assert isinstance(found, Unknown) if wanted is None else found is wanted


def test_a_partition_needs_a_peer_that_answers_before():
    question = Partition().before(TARGET)

    assert isinstance(question.read(Answer(stdout=json.dumps({"table": False, "answers": {PEER: False}}))), Unknown)
    assert isinstance(question.read(Answer(stdout=json.dumps({"table": False, "answers": {}}))), Unknown)


@pytest.mark.parametrize(("state", "frozen"), [("T", True), ("R", False), ("S", False), ("D", False)])
def test_a_rank_is_frozen_when_the_kernel_shows_it_stopped(state, frozen):
    assert presence(RankFrozen(), RANK, exists=True, state=state) is frozen


def test_a_rank_that_is_gone_is_not_frozen():
    assert presence(RankFrozen(), RANK, exists=False) is False


@pytest.mark.parametrize(("stopped", "wanted"), [(0, False), (5, None), (24, None), (25, True), (60, True)])
def test_a_straggler_is_stopped_in_half_of_the_wanted_share_at_least(stopped, wanted):
    found = presence(Straggler(share=0.5), RANK, exists=True, samples=100, stopped=stopped)

    assert isinstance(found, Unknown) if wanted is None else found is wanted


def test_the_way_back_of_a_straggler_ends_the_program_before_it_wakes_the_rank():
    acts = Straggler().undo(TARGET, RANK).acts

    assert [type(act) for act in acts[:2]] == [StopSpawned, SignalProcess]
    assert acts[1].signal == "SIGCONT"


@pytest.mark.parametrize(
    ("kills", "members", "wanted"), [(1, [], True), (2, [99], True), (0, [7], None), (1, [7], None), (0, [], None)]
)
def test_a_kill_for_memory_is_counted_and_the_rank_is_gone(kills, members, wanted):
    found = presence(OutOfMemory(), CGROUP, exists=True, oom_kills=kills, processes=members)

    assert isinstance(found, Unknown) if wanted is None else found is wanted


@pytest.mark.parametrize(
    ("seen", "damaged"),
    [
        ({"exists": True, "size": 50, "sha256": "bb"}, True),
        ({"exists": True, "size": 100, "sha256": "aa"}, False),
        ({"exists": True, "size": 100, "sha256": "cc"}, False),
        ({"exists": False}, False),
    ],
    ids=["cut", "as before", "written anew", "removed by its owner"],
)
def test_a_checkpoint_is_damaged_while_the_cut_file_lies_there(seen, damaged):
    assert presence(CheckpointTruncated(), CUT, **seen) is damaged


def test_without_a_checkpoint_there_is_nothing_to_damage():
    question = CheckpointTruncated().before(replace(TARGET, checkpoint=""))

    assert isinstance(question.read(Answer(stdout=json.dumps({"exists": True, "size": 9, "sha256": "a"}))), Unknown)


@pytest.mark.parametrize(
    ("changes", "wanted"), [({"ecc_uncorrected": 5}, True), ({}, False), ({"ecc_uncorrected": None}, None), ({"index": 4}, None)]
)
def test_a_double_bit_error_is_one_more_than_before(changes, wanted):
    found = presence(EccDoubleBit(), HEALTHY, devices=[device(**changes)])

    assert isinstance(found, Unknown) if wanted is None else found is wanted


@pytest.mark.parametrize(("devices", "wanted"), [([{"index": 0, "lost": True}], True), ([device()], False), ([], None)])
def test_a_device_is_off_the_bus_when_nvml_says_lost_and_not_when_it_says_nothing(devices, wanted):
    found = presence(OffTheBus(), HEALTHY, devices=devices)

    assert isinstance(found, Unknown) if wanted is None else found is wanted


@pytest.mark.parametrize(("word", "wanted"), [("off", True), ("on", False), ("", None), ("PoweringOff", None)])
def test_a_node_has_crashed_when_its_bmc_says_off(word, wanted):
    found = Crash().presence(TARGET, {"power": "on"}).read(Answer(stdout=word))

    assert isinstance(found, Unknown) if wanted is None else found is wanted


def test_a_port_that_the_inventory_does_not_name_is_refused():
    with pytest.raises(Unsupported, match="names 1 training ports"):
        LinkDown(port=1).touches(TARGET)
