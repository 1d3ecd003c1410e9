"""Faults carried out for real, by the agent's own code, on processes, interfaces, cgroups and files that are made for it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from isolated_node import INTERFACE, NODE, PEER, IsolatedNode

from chaos.agent import processes
from chaos.catalog import Catalog
from chaos.faults.job.rank_frozen import RankFrozen
from chaos.faults.job.rank_killed import RankKilled
from chaos.faults.job.straggler import Straggler
from chaos.faults.memory.oom import OutOfMemory
from chaos.faults.nic.flap import Flap
from chaos.faults.nic.link_down import LinkDown
from chaos.faults.nic.partition import Partition
from chaos.faults.storage.checkpoint_truncated import CheckpointTruncated
from chaos.model.acts import Consult, Run, Script, StopSpawned
from chaos.model.quantities import milliseconds
from chaos.model.unknown import Unknown
from chaos.protocols.ability import KernelLog
from chaos.protocols.fault import RankProcess, Target

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces, cgroups and interfaces need root")
PLATFORM = Catalog.installed().platform(NODE)
RANK = "import time\nkept = b'x' * (64 << 20)\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    node = IsolatedNode(tmp_path_factory.mktemp("node"))
    yield node
    node.close()


@pytest.fixture
def rank():
    """A process with some memory, as a rank has, and its time to start."""
    with subprocess.Popen([sys.executable, "-c", RANK], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        yield process
        process.kill()


@pytest.fixture
def target(rank, tmp_path):
    checkpoint = tmp_path / "step-20.pt"
    checkpoint.write_bytes(os.urandom(5000))
    process = RankProcess(0, 0, rank.pid, processes.started(rank.pid))
    return Target(NODE, PLATFORM, (process,), (PEER,), str(checkpoint), f"test-{rank.pid}")


def until(node, question, wanted, within=8.0):
    """The last answer, asked again until it is the wanted one."""
    end = time.monotonic() + within
    while (answer := node.ask(question)) is not wanted and time.monotonic() < end:
        time.sleep(0.05)
    return answer


def applied(node, fault, target):
    """Snapshot, control, act, proof: as the engine does it."""
    before = node.ask(fault.before(target))
    assert not isinstance(before, Unknown), before
    assert node.ask(fault.presence(target, before)) is False
    assert all(answer.is_done for answer in node.run(fault.apply(target, before)))
    assert until(node, fault.presence(target, before), True) is True
    return before


def undone(node, fault, target, before):
    """The way back works, and works again when there is nothing left to do."""
    for _ in range(2):
        answers = node.run(fault.undo(target, before))
        assert all(answer.is_done for answer in answers), [answer.tail for answer in answers]
    assert until(node, fault.presence(target, before), False) is False


def link(node):
    seen = json.loads(node.perform(Consult("link", {"interface": INTERFACE})).stdout)
    return {key: value for key, value in seen.items() if key != "carrier_changes"}


def test_a_killed_rank_is_gone(node, rank, target):
    applied(node, RankKilled(), target)

    assert rank.wait(5) == -9


def test_another_process_under_the_same_pid_is_not_struck(node, rank, target):
    before = node.ask(RankKilled().before(target))

    (answer,) = node.run(RankKilled().apply(target, {**before, "started": before["started"] + 1}))

    assert not answer.is_done
    assert rank.poll() is None


def test_a_rank_that_is_gone_is_no_target(node, rank, target):
    rank.kill()
    rank.wait()

    assert isinstance(node.ask(RankKilled().before(target)), Unknown)


def test_a_frozen_rank_goes_on_after_the_undo(node, rank, target):
    before = applied(node, RankFrozen(), target)
    undone(node, RankFrozen(), target, before)

    assert rank.poll() is None


def test_a_frozen_rank_that_was_killed_meanwhile_needs_no_undo(node, rank, target):
    before = applied(node, RankFrozen(), target)
    rank.kill()
    rank.wait()

    undone(node, RankFrozen(), target, before)


def test_a_straggler_runs_freely_after_the_undo(node, rank, target):
    fault = Straggler(share=0.6, period=50 * milliseconds)
    before = applied(node, fault, target)
    undone(node, fault, target, before)

    assert processes.stat(rank.pid)[0] in "RS"


@pytest.mark.parametrize("number", [15, 9])
def test_a_straggler_is_awake_after_the_undo_even_when_its_program_was_killed(node, rank, target, number):
    fault = Straggler(share=0.9, period=400 * milliseconds)
    before = applied(node, fault, target)
    (name,) = [act.name for act in fault.undo(target, before).acts if isinstance(act, StopSpawned)]
    os.kill(json.loads(node.perform(Consult("spawned", {"name": name})).stdout)["pid"], number)

    undone(node, fault, target, before)

    assert processes.stat(rank.pid)[0] in "RS"


def test_a_port_that_was_taken_down_has_its_addresses_routes_and_mtu_again(node, target):
    whole = link(node)
    assert len([route for route in whole["routes"] if route.get("protocol") != "kernel"]) == 3

    before = applied(node, LinkDown(), target)
    undone(node, LinkDown(), target, before)

    assert link(node) == whole


def test_a_half_restored_port_is_made_whole(node, target):
    whole = link(node)
    before = applied(node, LinkDown(), target)
    node.run(Script((Run(("ip", "link", "set", INTERFACE, "mtu", "1300")), Run(("ip", "link", "set", INTERFACE, "up")))))

    undone(node, LinkDown(), target, before)

    assert link(node) == whole


def test_a_flapping_port_comes_back_by_itself(node, target):
    whole, fault = link(node), Flap(flaps=2, down_for=100 * milliseconds, up_for=100 * milliseconds)

    before = applied(node, fault, target)
    time.sleep(fault.takes.seconds)
    assert link(node) == whole
    assert node.run(fault.undo(target, before))[-1].is_done
    assert node.perform(Run(("ls", "{home}/payload"))).stdout == ""


def test_a_flap_that_is_cut_short_leaves_the_port_up(node, target):
    whole, fault = link(node), Flap(flaps=10, down_for=1000 * milliseconds, up_for=50 * milliseconds)

    before = applied(node, fault, target)
    assert all(answer.is_done for answer in node.run(fault.undo(target, before)))

    assert link(node) == whole


def test_a_flap_program_that_is_ended_puts_the_port_back_itself(node, target):
    whole, fault = link(node), Flap(flaps=10, down_for=2000 * milliseconds, up_for=50 * milliseconds)
    before = node.ask(fault.before(target))
    node.run(fault.apply(target, before))
    assert until(node, LinkDown().presence(target, before), True) is True

    stop, *_ = fault.undo(target, before).acts
    assert node.perform(stop).is_done

    assert link(node) == whole
    node.run(fault.undo(target, before))


def test_a_partition_is_over_when_our_table_is_gone(node, target):
    foreign = Run(("nft", "-f", "-"), stdin="add table inet site\nadd chain inet site c\n")
    assert node.perform(foreign).is_done

    before = applied(node, Partition(), target)
    undone(node, Partition(), target, before)

    assert node.perform(Run(("nft", "list", "tables"))).stdout.split() == ["table", "inet", "site"]


def test_a_rank_is_killed_by_the_kernel_for_memory_and_nothing_of_ours_stays(node, rank, target):
    before = applied(node, OutOfMemory(), target)

    assert rank.wait(5) == -9
    undone(node, OutOfMemory(), target, before)


def test_a_memory_limit_that_killed_nobody_is_taken_from_the_rank_again(node, rank, target):
    before = node.ask(OutOfMemory().before(target))
    make, *_ = OutOfMemory().apply(target, before).acts
    node.perform(make)
    cgroup = Path(make.argv[-1])
    (cgroup / "cgroup.procs").write_text(str(rank.pid))
    assert isinstance(node.ask(OutOfMemory().presence(target, before)), Unknown)

    undone(node, OutOfMemory(), target, before)

    assert not cgroup.exists()
    assert rank.poll() is None


def test_a_truncated_checkpoint_is_put_back_bit_by_bit(node, rank, target):
    place = Path(target.checkpoint)
    whole = place.read_bytes()

    before = applied(node, CheckpointTruncated(), target)
    assert rank.wait(5) == -9
    assert place.stat().st_size == 2500
    undone(node, CheckpointTruncated(), target, before)

    assert place.read_bytes() == whole
    assert list(place.parent.iterdir()) == [place]


def test_a_checkpoint_that_the_job_wrote_anew_is_not_overwritten_by_the_undo(node, target):
    fault = CheckpointTruncated(and_kill=False)
    place = Path(target.checkpoint)
    before = applied(node, fault, target)
    place.write_bytes(b"new" * 2000)

    undone(node, fault, target, before)

    assert place.read_bytes() == b"new" * 2000
    assert list(place.parent.iterdir()) == [place]


def test_an_undo_before_the_act_leaves_the_checkpoint_alone(node, target):
    fault = CheckpointTruncated()
    before = node.ask(fault.before(target))

    undone(node, fault, target, before)

    assert Path(target.checkpoint).stat().st_size == 5000


def test_a_kernel_line_reaches_the_log(node):
    assert all(answer.is_done for answer in node.run(PLATFORM[KernelLog].write("NVRM: Xid test [chaos d1]")))

    assert node.perform(Run(("cat", "/dev/kmsg"))).stdout.endswith("<3>NVRM: Xid test [chaos d1]\n")
