"""The whole judgement: canaries first, then every criterion of the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chaos.criteria.ruling import NOTHING
from chaos.grading.canaries import play_canaries
from chaos.grading.profiles import Profile, Requirement
from chaos.model.history import History
from chaos.model.verdicts import Coverage, Judgement, Outcome, Strength, Verdict, worst
from chaos.protocols.criterion import Criterion

UNFORESEEN = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What a criterion may stumble over in a record that nobody foresaw. It is then in doubt; it is never a crash, and never a pass."""


def judge(history: History, profile: Profile, criteria: Mapping[str, type[Criterion]]) -> Judgement:
    """All verdicts over a history under a profile. A canary that does not bark voids the whole: its outcome is INVALID."""
    kinds = {requirement.criterion.kind: type(requirement.criterion) for requirement in profile.requirements}
    canaries = play_canaries({kind: criteria.get(kind, own) for kind, own in kinds.items()})
    verdicts = tuple(_grade(requirement, history) for requirement in profile.requirements)
    outcome = worst(verdict.outcome for verdict in verdicts if verdict.signs)
    if not all(canary.barks for canary in canaries):
        outcome = Outcome.INVALID
    return Judgement(profile.name, profile.digest, outcome, verdicts, canaries, profile.does_not_show)


def _grade(requirement: Requirement, history: History) -> Verdict:
    try:
        verdict = requirement.criterion.grade(history)
    except UNFORESEEN as error:
        verdict = _in_doubt(requirement.criterion, error)
    return replace(verdict, signs=requirement.signs)


def _in_doubt(criterion: Criterion, error: Exception) -> Verdict:
    return Verdict(
        criterion=criterion.kind,
        title=criterion.title,
        outcome=Outcome.INCONCLUSIVE,
        measured=NOTHING,
        threshold=None,
        strength=Strength.OBSERVED,
        coverage=Coverage(1, 0, "gradings"),
        sentence=f"The record could not be graded: {type(error).__name__}: {error}.",
        family=criterion.family,
    )
