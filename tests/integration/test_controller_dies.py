"""The controller is killed while a network card is down and a process is frozen: the nodes undo both without it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_lab import small_lab, ssh

from chaos.engine.injecting import LEASE
from chaos.lab.lifecycle import down, up
from chaos.ledger.reading import read_record
from chaos.model.injections import InjectionMoved, InjectionState

pytestmark = pytest.mark.lab

CONTROLLER = """
import sys
from pathlib import Path
from chaos.catalog import Catalog
from chaos.cli.site import over_ssh
from chaos.engine.injecting import intend
from chaos.engine.injecting_alone import target_on
from chaos.engine.opening import open_session
from chaos.inventory.reading import load
from chaos.ledger.folder import RunFolder
from chaos.model.plans import FaultSpec, Plan
from chaos.model.quantities import minutes

cluster, catalog = load(Path(sys.argv[1])), Catalog.installed()
with open_session(cluster, catalog, Plan("two faults", "none", 0, ()), RunFolder(Path(sys.argv[2])), over_ssh) as session:
    for name, kind, pid in (("node1", "nic.link_down", None), ("node2", "job.rank_frozen", int(sys.argv[3]))):
        node = cluster[name]
        session.reach(node)
        fault = catalog.fault(FaultSpec(kind))
        target = target_on(session, node, kind, pid=pid)
        injection = intend(session, fault, target, injection=kind, attempt=1, deadline=5 * minutes, workload="")
        injection.arm()
        injection.apply()
        injection.prove()
    print("struck", flush=True)
    while True:
        session.pump(1 * minutes)
"""


@pytest.fixture
def lab():
    plan = small_lab("k", nodes=2, spares=0)
    up(plan)
    yield plan
    down(plan)


def carrier(lab) -> str:
    return ssh(lab, "node1", "cat /sys/class/net/rdma0/operstate")


def state_of(lab, pid: str) -> str:
    return ssh(lab, "node2", f"cut -d' ' -f3 /proc/{pid}/stat")


def test_guards_undo_a_cut_card_and_a_frozen_process_within_the_lease(lab, tmp_path: Path) -> None:
    pid = ssh(lab, "node2", "setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $!")
    run = tmp_path / "run"
    words = [sys.executable, "-c", CONTROLLER, f"{lab.state}/inventory.yaml", str(run), pid]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout.readline() == "struck\n"
        assert (carrier(lab), state_of(lab, pid)) == ("down", "T")
        controller.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    while (carrier(lab), state_of(lab, pid)) != ("up", "S"):
        assert time.monotonic() - killed < LEASE.seconds + 5, "the faults outlived their lease"
        time.sleep(0.3)
    assert time.monotonic() - killed > 5, "undone before the lease ran out: the faults were not held"
    states = [event.body.state for event in read_record(run / "ledger.jsonl").events if isinstance(event.body, InjectionMoved)]
    assert states == [InjectionState.ARMED, InjectionState.APPLIED, InjectionState.PROVEN] * 2
