"""Breaks one thing at a time under a running job, and watches the job mend itself.

Run with ``pytest suites/drills --inventory FILE``; the same command goes on where an interrupted run ended, ``--run DIR --replay``
grades a finished one.
"""

import pytest

from chaos.criteria.blast_radius import BlastRadius
from chaos.criteria.localisation import Localisation
from chaos.criteria.lost_work import LostWork
from chaos.criteria.recovery import Recovery
from chaos.faults.gpu.off_the_bus import OffTheBus
from chaos.faults.job.rank_frozen import RankFrozen
from chaos.faults.job.rank_killed import RankKilled
from chaos.faults.nic.flap import Flap
from chaos.faults.nic.link_down import LinkDown

pytestmark = [pytest.mark.drill, pytest.mark.needs(nodes=2)]


@pytest.mark.each_node(role="compute")
@pytest.mark.parametrize("fault", [RankKilled(), RankFrozen()])
def test_training_recovers_from_the_loss_of_a_rank(drill, training, fault, node):
    """A job that loses one rank is making progress again within five minutes, from its last checkpoint."""
    with drill.under(training):
        incident = drill.strike(fault, on=node)

    incident.must(Recovery())
    incident.must(LostWork())
    incident.must(BlastRadius())


@pytest.mark.each_node(role="compute")
@pytest.mark.needs("LinkControl")
@pytest.mark.parametrize("fault", [LinkDown(), Flap()])
def test_training_recovers_from_a_broken_training_port(drill, training, fault, node):
    """A job whose training network breaks on one node is making progress again, and the node that is named is that node."""
    with drill.under(training):
        incident = drill.strike(fault, on=node)

    incident.must(Recovery())
    incident.must(Localisation())


@pytest.mark.each_node(role="compute")
@pytest.mark.needs("AcceleratorSignals", "KernelLog")
def test_training_recovers_from_an_accelerator_off_the_bus(drill, training, node):
    """A job that loses an accelerator goes on without its node, and no other node breaks."""
    with drill.under(training):
        incident = drill.strike(OffTheBus(), on=node)

    incident.must(Recovery())
    incident.must(BlastRadius())
