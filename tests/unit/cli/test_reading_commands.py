"""``chaos inventory`` and ``chaos faults`` read and tell; they contact nobody."""

import json
from dataclasses import dataclass

import pytest

from chaos.catalog import Catalog
from chaos.cli.main import run
from chaos.model.nodes import Severity
from chaos.model.quantities import Duration, seconds
from chaos.protocols.ability import LinkControl, PowerControl
from chaos.protocols.fault import Expects, Fidelity


@dataclass(frozen=True)
class Flap:
    """The port goes down and comes back."""

    kind = "nic.flap"
    catalogue_id = "NW02"
    title = "Port flaps"
    fault_class = "network"
    severity = Severity.DISRUPTIVE
    fidelity = Fidelity.REAL
    mechanism = "ip link set down"
    layer = "netdev"
    needs = (LinkControl,)
    expects = Expects.RIDE_OUT
    needs_job = False
    is_lasting = False
    is_out_of_band = False
    port: int = 0
    down_for: Duration = 5 * seconds


class Crash(Flap):
    """The power goes."""

    kind = "host.crash"
    catalogue_id = "HW01"
    severity = Severity.DESTRUCTIVE
    needs = (PowerControl,)
    is_lasting = True


class Linux:
    kind = "linux"

    def abilities(self, node):
        class Links(LinkControl):
            state = overview = down = restore = None

        return (Links(),)


@pytest.fixture(autouse=True)
def catalog(monkeypatch):
    known = Catalog(faults={"host.crash": Crash, "nic.flap": Flap}, vendors={"linux": Linux}, launchers={"elastic": Linux})
    monkeypatch.setattr(Catalog, "installed", classmethod(lambda cls: known))


@pytest.fixture
def inventory(tmp_path):
    file = tmp_path / "site.yaml"
    file.write_text("{name: site, groups: {gpu: {hosts: 'gpu[1-8]', domains: {rack: 'r{number}'}}, h: {hosts: h1, role: head}}}")
    return str(file)


def lines(capsys):
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_check_says_that_an_inventory_is_right(inventory, capsys):
    assert run(["inventory", "check", inventory]) == 0
    assert capsys.readouterr().err.endswith("9 nodes (8 compute, 1 head), 8 contracted slots: ok\n")


def test_check_names_kinds_that_nobody_knows(tmp_path, capsys):
    file = tmp_path / "site.yaml"
    file.write_text("{name: site, launcher: slurm, groups: {gpu: {hosts: 'gpu[1-8]', vendor: linus}}}")

    assert run(["inventory", "check", str(file)]) == 2
    assert "gpu[1-8]: unknown vendor 'linus'; did you mean 'linux'?" in capsys.readouterr().err


def test_show_folds_nodes_that_are_alike(inventory, capsys):
    assert run(["inventory", "show", inventory]) == 0

    shown = lines(capsys)
    assert [line.split() for line in shown[-2:]] == [
        ["gpu[1-8]", "compute", "gpu[1-8]", "linux", "-", "-", "r[1-8]", "disruptive", "-"],
        ["h1", "head", "h1", "linux", "-", "-", "-", "disruptive", "-"],
    ]


def test_the_inventory_may_come_from_the_environment(inventory, capsys, monkeypatch):
    monkeypatch.setenv("CHAOS_INVENTORY", inventory)

    assert run(["inventory", "check"]) == 0


def test_faults_are_listed_with_what_they_need(capsys):
    assert run(["faults", "list"]) == 0

    assert [line.split() for line in lines(capsys)] == [
        ["KIND", "ID", "TITLE", "SEVERITY", "FIDELITY", "NEEDS"],
        ["host.crash", "HW01", "Port", "flaps", "destructive", "real", "PowerControl"],
        ["nic.flap", "NW02", "Port", "flaps", "disruptive", "real", "LinkControl"],
    ]


def test_a_list_for_a_node_says_what_stands_in_the_way(inventory, capsys):
    assert run(["faults", "list", "--node", "gpu3", "--inventory", inventory, "--json"]) == 0

    told = {fault["kind"]: fault["obstacles"] for fault in json.loads(capsys.readouterr().out)["faults"]}
    assert told == {"nic.flap": [], "host.crash": ["lacks PowerControl", "destructive is not allowed there"]}


def test_the_head_is_never_a_target(inventory, capsys):
    run(["faults", "list", "--node", "h1", "--inventory", inventory])

    assert lines(capsys)[-1].endswith("the head is never a target")


def test_a_node_that_is_not_there_is_refused_with_the_nearest(inventory, capsys):
    assert run(["faults", "list", "--node", "gpu33", "--inventory", inventory]) == 2
    assert "did you mean 'gpu3'?" in capsys.readouterr().err
    assert run(["faults", "list", "--node", "gpu3"]) == 2


def test_a_fault_is_shown_with_its_parameters(capsys):
    assert run(["faults", "show", "nic.flap"]) == 0

    shown = lines(capsys)
    assert shown[0] == "nic.flap: Port flaps"
    assert "The port goes down and comes back." in shown
    assert [line.split() for line in shown[-2:]] == [["port", "int", "0"], ["down_for", "Duration", "5s"]]


def test_an_unknown_fault_is_refused_with_the_nearest(capsys):
    assert run(["faults", "show", "nic.flop"]) == 2
    assert "did you mean 'nic.flap'?" in capsys.readouterr().err
