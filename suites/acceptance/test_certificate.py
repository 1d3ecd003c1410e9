"""What a cluster must show before it is accepted. Graded over the record of a run; no node is touched."""

import pytest

from chaos.pytest_plugin.outcomes import must

pytestmark = pytest.mark.acceptance


def test_each_criterion_rejects_what_is_bad_and_accepts_what_is_good(judgement):
    """A gate that cannot fail proves nothing: each criterion is tried on a known-bad and a known-good history first."""
    assert [canary for canary in judgement.canaries if not canary.barks] == []


def test_the_cluster_meets_the_criterion(verdict):
    """Every criterion of the profile holds over the whole run, and its evidence is complete."""
    must(verdict)


def test_training_makes_progress_again_after_the_fault(incident, requirement):
    """A job that is struck is training again, with new steps, within the limit that the profile sets."""
    incident.must(requirement("recovery"))
