"""What is done before a cluster is accepted, as a value: measure, train without interruption, then break things while it trains."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from chaos.catalog import Catalog
from chaos.errors import PlanError
from chaos.model.nodes import Cluster, Node, Role
from chaos.model.plans import Drills, FaultSpec, Measure, Plan, Preflight, Strike, WorkloadSpec
from chaos.model.quantities import Duration, minutes, seconds
from chaos.protocols.fault import Expects, Fault

FAULTS = (
    FaultSpec("job.rank_killed"),
    FaultSpec("nic.link_down"),
    FaultSpec("job.rank_frozen"),
    FaultSpec("gpu.ecc_double_bit"),
    FaultSpec("nic.flap"),
    FaultSpec("nic.partition"),
    FaultSpec("memory.oom"),
    FaultSpec("gpu.off_the_bus"),
    FaultSpec("storage.checkpoint_truncated"),
    FaultSpec("host.crash"),
    FaultSpec("job.straggler", {"share": 0.85, "period": "400ms"}),
)
"""One of each kind. What costs a node its place and what does not take turns, so that a spare is ready again each time."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How much a profile asks for: rounds of all faults, the limit of each recovery, and the size of the loads."""

    rounds: int
    limit: Duration
    reference_steps: int
    pace: Duration
    steady_steps: int
    expected_per_strike: Duration


SHAPES = {
    "quick": Shape(1, 60 * seconds, 500, Duration.parse("150ms"), 10, 15 * seconds),
    "five-star": Shape(3, 5 * minutes, 5_000, Duration.parse("1s"), 30, 3 * minutes),
}
"""Three rounds of eleven faults are 33 clean drills: at 90 % confidence they demonstrate 93 % of recoveries."""


def plan(cluster: Cluster, profile_name: str, seed: int) -> Plan:
    """The whole campaign for this cluster. The same cluster, profile and seed give the same plan.

    Raises:
        PlanError: there are not enough compute nodes, or no node may be struck by any fault.
    """
    shape = SHAPES.get(profile_name, SHAPES["five-star"])
    if len(cluster.where(role=Role.COMPUTE)) < 2:
        raise PlanError("plan the campaign", where=cluster.name, why="recovery needs at least two compute nodes")
    strikes = tuple(choose_strikes(cluster, shape, seed))
    if not strikes:
        raise PlanError("plan the campaign", where=cluster.name, why="the inventory lets no fault strike any node")
    interval = {"checkpoint_interval": 10}
    training = WorkloadSpec("training", "training", {"pace": str(shape.pace), **interval})
    reference = WorkloadSpec("reference", "training", {"steps": shape.reference_steps, **interval})
    steps = (
        Preflight(),
        Measure(
            "allreduce", "Measure the all-reduce over all compute nodes", WorkloadSpec("allreduce", "all-reduce"), 20 * seconds
        ),
        Measure("reference", "Train without interruption, as the measure of every resume", reference, 40 * seconds),
        Drills(
            "drills",
            f"Break {len(strikes)} things while the job trains",
            training,
            strikes,
            steady_steps=shape.steady_steps,
            expected=len(strikes) * shape.expected_per_strike,
        ),
    )
    return Plan("certify", profile_name, seed, steps)


def choose_strikes(cluster: Cluster, shape: Shape, seed: int) -> Iterable[Strike]:
    """Every fault that fits, on nodes taken in turn from a seeded order, so that no node is struck twice in a row."""
    catalog = Catalog.installed()
    order = list(cluster.where(role=Role.COMPUTE))
    Random(seed).shuffle(order)
    number = 0
    for fault_spec in FAULTS * shape.rounds:
        fault = catalog.fault(fault_spec)
        fit = [node for node in _turned(order, number) if _may_strike(catalog, cluster, fault, node)]
        if fit:
            number += 1
            yield Strike(f"drill-{number:02d}", fault_spec, fit[0].name, shape.limit)


def _turned(order: Sequence[Node], number: int) -> Sequence[Node]:
    start = number % len(order)
    return (*order[start:], *order[:start])


def _may_strike(catalog: Catalog, cluster: Cluster, fault: Fault, node: Node) -> bool:
    """Allowed by the inventory, possible on the platform, and with a spare where the node will be lost to the job."""
    if fault.severity > node.severity_allowed or catalog.platform(node).lacks(fault.needs):
        return False
    return fault.expects is not Expects.REPLACE or bool(cluster.where(role=Role.SPARE))
