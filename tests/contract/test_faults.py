"""What every fault of this installation keeps, whoever wrote it. One more file under chaos/faults is one more case here."""

import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
from isolated_node import NODE, PEER

import chaos.faults
from chaos.catalog import Catalog
from chaos.errors import PlanError
from chaos.model.acts import Answer, Power, Run, Script, Spawn
from chaos.model.quantities import Duration
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Ability
from chaos.protocols.fault import Fault, RankProcess, Target

IDENTIFIERS = [line.split("\t")[0] for line in (Path(__file__).parent / "data" / "fault_catalogue.tsv").read_text().splitlines()]
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "env"}

LINK = {
    "exists": True, "interface": "chaos-t0", "operstate": "up", "carrier": 1, "carrier_changes": 2, "mtu": 1500, "mac": "", "is_up": True,
    "addresses": ["10.211.7.1/24", "fd00::1/64"],
    "routes": [{"dst": "default", "gateway": "10.211.7.9", "family": "-4", "flags": []}],
}  # fmt: skip
DEVICE = {"lost": False, "error": 0, "uuid": "GPU-n1-0", "ecc_corrected": 0, "ecc_uncorrected": 0, "temperature": 40}
UNTOUCHED = {
    "link": LINK,
    "process": {"exists": True, "pid": 4711, "state": "R", "started": 99},
    "file": {"exists": True, "size": 1000, "sha256": "ab" * 32, "is_file": True},
    "nvml": {"devices": [{**DEVICE, "index": 0}, {**DEVICE, "index": 1, "uuid": "GPU-n1-1"}]},
    "chaos-simulator": {"devices": [{"index": index, "lost": 0, "ecc_corrected": 0, "ecc_uncorrected": 0} for index in (0, 1)]},
    "reachability": {"table": False, "answers": {PEER: True}},
    "stopped_share": {"exists": True, "samples": 150, "stopped": 0},
}
GARBAGE = [
    "",
    " ",
    "null",
    "[]",
    "0",
    "true",
    '"gone"',
    "{}",
    '{"exists": 1}',
    '{"exists": true}',
    '{"devices": [7]}',
    "\x00",
    "ERR!",
    "{",
]


def every_fault() -> list[type[Fault]]:
    """All classes in the modules below chaos.faults, without asking the catalogue."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(chaos.faults.__path__, "chaos.faults.")]
    named = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return sorted((kind for kind in named if issubclass(kind, Fault) and kind is not Fault), key=lambda kind: kind.kind)


FAULTS = [pytest.param(kind, id=kind.kind) for kind in every_fault()]
IN_BAND = [pytest.param(kind, id=kind.kind) for kind in every_fault() if not kind.is_out_of_band]


PLATFORM = Catalog.installed().platform(NODE)


def target(injection: str = "drill-1") -> Target:
    ranks = (RankProcess(3, 0, 4711, 99),)
    return Target(NODE, PLATFORM, ranks, (PEER,), "/shared/step-20.pt", injection)


def untouched(act) -> Answer:
    """What a healthy node where nothing was injected answers."""
    if isinstance(act, Power):
        return Answer(stdout="on")
    if isinstance(act, Run):
        name = act.argv[0] if act.argv[0] == "chaos-simulator" else act.argv[4]
        return Answer(stdout=json.dumps(UNTOUCHED[name]))
    if act.subject == "cgroup":
        by_pid = {"exists": True, "version": 2, "root": "/sys/fs/cgroup", "path": "/sys/fs/cgroup/job.slice", "pid": 4711}
        return Answer(
            stdout=json.dumps(by_pid if "pid" in act.arguments else {"exists": False, "oom_kills": None, "processes": []})
        )
    return Answer(stdout=json.dumps(UNTOUCHED[act.subject]))


def before_of(fault: Fault, at: Target):
    question = fault.before(at)
    return question.read(untouched(question.asks))


@pytest.fixture(params=FAULTS)
def fault(request) -> Fault:
    return request.param()


def test_there_are_faults_and_the_catalogue_of_the_field_is_whole():
    assert len(FAULTS) >= 11
    assert len(IDENTIFIERS) == len(set(IDENTIFIERS)) == 173


def test_the_catalogue_finds_exactly_what_the_packages_hold():
    assert sorted(Catalog.installed().faults) == sorted({kind.kind for kind in every_fault()})


def test_kinds_are_unique_and_name_subsystem_and_event():
    kinds = [kind.kind for kind in every_fault()]

    assert len(set(kinds)) == len(kinds)
    assert all(re.fullmatch(r"[a-z]+\.[a-z_]+", kind) for kind in kinds)


def test_its_identifier_stands_in_the_catalogue_of_the_field(fault):
    assert fault.catalogue_id in IDENTIFIERS


def test_its_docstring_says_what_it_shows_and_what_it_does_not(fault):
    assert all(word in (type(fault).__doc__ or "") for word in ("Mechanism:", "Shows", "Does not show", "Proof:"))


def test_it_needs_abilities_and_a_platform_without_them_is_told(fault):
    assert fault.needs
    assert all(issubclass(need, Ability) for need in fault.needs)
    assert target().platform.lacks(fault.needs) == ()


def test_the_snapshot_is_json_and_survives_the_record(fault):
    before = before_of(fault, target())

    assert not isinstance(before, Unknown)
    assert json.loads(json.dumps(dict(before))) == before


def test_its_scripts_survive_the_record(fault):
    before = before_of(fault, target())

    for script in (fault.apply(target(), before), fault.undo(target(), before)):
        assert Script.decode(json.loads(json.dumps(script.encode()))) == script


def test_the_same_undo_comes_out_of_the_record_when_the_job_is_gone(fault):
    before = before_of(fault, target())
    later = Target(NODE, PLATFORM, injection="drill-1")

    assert fault.undo(later, json.loads(json.dumps(dict(before)))) == fault.undo(target(), before)
    assert str(fault.presence(later, before))


def test_every_act_of_an_undo_is_tried_whatever_became_of_the_one_before(fault):
    assert fault.undo(target(), before_of(fault, target())).keep_going


def test_a_lasting_fault_has_a_way_back(fault):
    assert not fault.is_lasting or fault.undo(target(), before_of(fault, target()))


def test_it_does_something(fault):
    assert fault.apply(target(), before_of(fault, target()))


def test_no_act_goes_through_a_shell(fault):
    before = before_of(fault, target())
    acts = [*fault.apply(target(), before).acts, *fault.undo(target(), before).acts, fault.before(target()).asks]

    for act in [*acts, fault.presence(target(), before).asks]:
        if isinstance(act, Run | Spawn):
            assert act.argv[0] not in SHELLS
            assert "-c" not in act.argv[:2]
            assert not any(mark in word for word in act.argv for mark in ("&&", "||", ";", "`", "$("))


def test_a_dry_run_has_words_for_every_act(fault):
    before = before_of(fault, target())

    for act in [*fault.apply(target(), before).acts, *fault.undo(target(), before).acts]:
        assert str(act).strip()


def test_two_injections_share_nothing_on_a_node(fault):
    before = before_of(fault, target())
    brought = [json.dumps(fault.apply(target(name), before).encode()) for name in ("drill-1", "drill-2")]

    if "chaos" in brought[0].replace("chaos-t0", "").replace("chaos-simulator", ""):
        assert brought[0] != brought[1]


def test_a_long_or_strange_name_of_an_injection_is_no_part_of_a_path(fault):
    at = target("../drills/3 $(x)")
    before = before_of(fault, at)

    for act in [*fault.apply(at, before).acts, *fault.undo(at, before).acts]:
        places = [getattr(act, name, "") for name in ("path", "target", "name")]
        assert not any(".." in place or "$" in place or " " in place for place in places)


def test_where_nothing_was_injected_the_proof_says_so(fault):
    before = before_of(fault, target())
    question = fault.presence(target(), before)

    assert question.read(untouched(question.asks)) is False


@pytest.mark.parametrize("text", GARBAGE)
def test_a_proof_that_cannot_be_read_is_unknown(fault, text):
    question = fault.presence(target(), before_of(fault, target()))

    assert isinstance(question.read(Answer(stdout=text)), Unknown)


@pytest.mark.parametrize("text", GARBAGE)
def test_a_snapshot_that_cannot_be_read_is_unknown(fault, text):
    assert isinstance(fault.before(target()).read(Answer(stdout=text)), Unknown)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(exit_status=None, timed_out=True, is_done=False, stdout=json.dumps({"exists": True})),
        Answer(exit_status=None, error="No such file or directory", is_done=False),
        Answer(exit_status=1, is_done=False, stdout=json.dumps(UNTOUCHED["link"])),
    ],
    ids=["timed out", "not started", "failed"],
)
def test_a_question_that_was_not_answered_is_unknown(fault, answer):
    question = fault.presence(target(), before_of(fault, target()))

    assert isinstance(question.read(answer), Unknown)
    assert isinstance(fault.before(target()).read(answer), Unknown)


def test_its_parameters_are_plain_and_durations_are_text(fault):
    assert json.loads(json.dumps(dict(fault.parameters))) == fault.parameters
    for value in fault.parameters.values():
        assert not isinstance(value, Duration)


@pytest.mark.parametrize("kind", [kind for kind in every_fault() if "local_rank" in kind.__dataclass_fields__])
def test_a_fault_of_a_rank_says_that_it_needs_a_job_and_which_rank_is_missing(kind):
    assert kind.needs_job
    with pytest.raises(LookupError, match="local number 7"):
        kind(local_rank=7).before(target())
    with pytest.raises(PlanError, match="local_rank"):
        kind(local_rank=-1)


@pytest.mark.parametrize("kind", IN_BAND)
def test_only_a_fault_of_the_network_takes_an_interface(kind):
    assert bool(kind().touches(target())) is kind.kind.startswith("nic.")
