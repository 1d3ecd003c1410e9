"""From kinds and parameters to instances, from nodes to platforms."""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from chaos.catalog import Catalog
from chaos.errors import PlanError
from chaos.model.nodes import Bmc, Cluster, Node
from chaos.model.plans import FaultSpec, WorkloadSpec
from chaos.model.quantities import Duration, Percentage, seconds
from chaos.protocols.ability import Ability


class Link(Ability):
    pass


class Log(Ability):
    pass


@dataclass(frozen=True)
class Offer(Link, Log):
    by: str


def vendor(name: str, *abilities: type[Ability], builds_on: str = ""):
    class Made:
        kind = name
        extends = builds_on

        def abilities(self, node):
            return tuple(ability() for ability in abilities)

    return Made


@dataclass(frozen=True)
class Flap:
    kind = "nic.flap"
    port: int = 0
    down_for: Duration = 5 * seconds
    hold: Duration | None = None
    share: Percentage = Percentage(Decimal(50))
    names: tuple[str, ...] = ()

    def __post_init__(self):
        if self.port > 7:
            raise ValueError("a node has at most 8 ports")


@dataclass(frozen=True)
class Needy:
    kind = "needy"
    size: int


CATALOG = Catalog(
    faults={"nic.flap": Flap, "needy": Needy},
    workloads={"nic.flap": Flap},
    vendors={
        "linux": vendor("linux", Link),
        "nvidia": vendor("nvidia", Log),
        "simulated": vendor("simulated", builds_on="nvidia"),
        "circle": vendor("circle", builds_on="circle"),
    },
    launchers={"elastic": Needy},
)


def test_parameters_are_read_by_the_type_of_their_field():
    fault = CATALOG.fault(
        FaultSpec("nic.flap", {"port": "1", "down_for": "30s", "hold": "2m", "share": "99.995 %", "names": ["a"]})
    )

    assert fault == Flap(1, 30 * seconds, 120 * seconds, Percentage(Decimal("99.995")), ("a",))
    assert CATALOG.workload(WorkloadSpec("w", "nic.flap")) == Flap()


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (FaultSpec("nic.flop"), r"unknown fault 'nic\.flop'\n  next: did you mean 'nic\.flap'\?"),
        (FaultSpec("zzz"), r"known are: needy, nic\.flap"),
        (FaultSpec("nic.flap", {"prot": 1}), r"unknown parameter 'prot' of nic\.flap\n  next: did you mean 'port'\?"),
        (FaultSpec("nic.flap", {"down_for": 30}), "30 does not fit the parameter 'down_for'.*such as 300s"),
        (FaultSpec("nic.flap", {"port": "one"}), "'one' does not fit the parameter 'port'.*valid integer"),
        (FaultSpec("nic.flap", {"port": 9}), "at most 8 ports"),
        (FaultSpec("needy"), "build needy.*size"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(spec, why):
    with pytest.raises(PlanError, match=why):
        CATALOG.fault(spec)


def test_a_platform_has_the_abilities_of_its_vendor_and_of_the_operating_system():
    platform = CATALOG.platform(Node("n", "n", vendor="nvidia"))

    assert platform.lacks((Link, Log)) == ()
    assert CATALOG.platform(Node("n", "n")).lacks((Link, Log)) == ("Log",)


def test_a_vendor_can_extend_another():
    assert CATALOG.platform(Node("n", "n", vendor="simulated")).lacks((Link, Log)) == ()


def test_the_nearest_offer_of_an_ability_wins():
    made = vendor("own")
    made.abilities = lambda self, node: (Offer(node.name),)
    catalog = Catalog(vendors={"linux": CATALOG.vendors["linux"], "own": made})

    assert catalog.platform(Node("n", "n", vendor="own"))[Link] == Offer("n")


def test_vendors_that_extend_each_other_are_refused():
    with pytest.raises(PlanError, match="circle is a circle"):
        CATALOG.platform(Node("n", "n", vendor="circle"))


def test_an_unknown_vendor_is_refused_with_those_that_are_known():
    with pytest.raises(PlanError, match=r"n: unknown vendor 'nvidea'\n  next: did you mean 'nvidia'\?"):
        CATALOG.platform(Node("n", "n", vendor="nvidea"))


def test_power_needs_a_bmc_and_a_driver():
    with pytest.raises(PlanError, match="no BMC"):
        CATALOG.power(Node("n", "n"))
    with pytest.raises(PlanError, match="unknown power driver 'redfish'"):
        CATALOG.power(Node("n", "n", bmc=Bmc("redfish", "b")))


def test_gaps_name_what_an_inventory_asks_for_in_vain_once_for_all_nodes():
    nodes = tuple(Node(f"n{number}", "a", vendor="amd", bmc=Bmc("redfish", "b")) for number in range(1, 9))
    cluster = Cluster("c", nodes, 8, launcher="slurm")

    told = CATALOG.gaps(cluster)

    assert [line.split(";")[0] for line in told] == [
        "n[1-8]: unknown vendor 'amd'",
        "n[1-8]: unknown power driver 'redfish'",
        "unknown launcher 'slurm'",
    ]
    assert CATALOG.gaps(Cluster("c", (Node("n", "n"),), 1)) == ()
