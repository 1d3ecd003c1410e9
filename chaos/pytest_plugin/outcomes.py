"""A verdict as pytest sees it: failed is the cluster, broken is us, skipped is not applicable."""

from __future__ import annotations

import pytest

from chaos.errors import CriterionNotMet, Inconclusive
from chaos.model.verdicts import Outcome, Verdict


def must(verdict: Verdict) -> None:
    """Returns when the verdict is a PASS.

    What a profile prints beside without signing it never fails a test: unless it passes, it is skipped with its words.

    Raises:
        CriterionNotMet: the cluster failed.
        Inconclusive: evidence is missing, or the test did not do what it claims.
    """
    __tracebackhide__ = True
    if verdict.outcome is Outcome.PASS:
        return
    if verdict.outcome is Outcome.NOT_APPLICABLE:
        pytest.skip(f"{verdict.title}: not applicable: {verdict.sentence}")
    if not verdict.signs:
        pytest.skip(f"{verdict.title}: printed beside, not signed: {verdict.outcome}: {verdict.sentence}")
    if verdict.outcome is Outcome.FAIL:
        raise CriterionNotMet(f"{verdict.sentence}\n  measured {verdict.measured}, limit {verdict.threshold or 'none'}")
    raise Inconclusive(
        f"{verdict.title} is {verdict.outcome}",
        why=verdict.sentence,
        todo=f"evidence: {verdict.coverage}"
        + (f"; missing: {', '.join(verdict.coverage.missing)}" if verdict.coverage.missing else ""),
    )
