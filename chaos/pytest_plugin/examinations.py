"""Looking without breaking: what the probes found on each node, and what the fabric measured."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from chaos.catalog import Catalog
from chaos.errors import CriterionNotMet, Inconclusive
from chaos.model.history import History
from chaos.model.nodes import Node
from chaos.model.plans import Measure, Plan, Preflight, WorkloadSpec
from chaos.protocols.criterion import Criterion
from chaos.protocols.probe import Health
from chaos.pytest_plugin.asked import Asked
from chaos.pytest_plugin.opening import opened
from chaos.pytest_plugin.outcomes import must


@dataclass(frozen=True, slots=True)
class Examination:
    """A record of looking: the fixture ``examination``."""

    history: History
    catalog: Catalog

    def must_be_healthy(self, probe: str, node: Node) -> None:
        """Passes when the probe found the node healthy.

        Raises:
            CriterionNotMet: it found it unhealthy.
            Inconclusive: it was not asked, or its answer could not be read.
        """
        __tracebackhide__ = True
        lacks = self.catalog.platform(node).lacks(self.catalog.probe(probe).needs)
        if lacks:
            pytest.skip(f"not applicable: {node} does not offer {', '.join(lacks)}")
        found = [row.data for row in self.history.observations("probe", node=node.name) if row.data.get("probe") == probe]
        if not found:
            raise Inconclusive(f"judge {probe} on {node}", why="the record has no answer to it", todo="run it without --replay")
        health, sentence = str(found[-1].get("health", "")), str(found[-1].get("sentence", ""))
        if health == Health.UNHEALTHY:
            raise CriterionNotMet(f"{node}: {sentence}")
        if health != Health.HEALTHY:
            raise Inconclusive(f"judge {probe} on {node}", why=sentence or "its answer could not be read")

    def must(self, criterion: Criterion) -> None:
        """Passes when what was measured meets the criterion.

        Raises:
            CriterionNotMet: the cluster failed.
            Inconclusive: the evidence does not decide.
        """
        __tracebackhide__ = True
        must(criterion.grade(self.history))


def plan_of(profile: str) -> Plan:
    """What an examination does: reach and probe every node, and measure the fabric."""
    fabric = Measure("allreduce", "Measure the all-reduce over all compute nodes", WorkloadSpec("allreduce", "all-reduce"))
    return Plan("qualification", profile, 0, (Preflight(), fabric))


def examine(asked: Asked) -> History:
    """Carries it out, unless the record has it already; the record."""
    from chaos.engine.campaign import carry_out  # noqa: PLC0415 - what acts on nodes is loaded by the tests that act

    if asked.dry_run:
        pytest.skip("dry run: would reach every node, ask the probes and measure the all-reduce")
    plan = plan_of(asked.profile_name)
    with opened(asked, plan) as session:
        carry_out(session, plan)
        return session.history()
