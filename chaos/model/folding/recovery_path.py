"""How a job came through a fault: the round it ran in before, the round it went on in, the stall between, and the way it took."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from chaos.model.folding.injections import Drill, Moment
from chaos.model.folding.steps import DoneStep, Progress, Round, pace

STALL_RATIO = 3.0
"""A step that takes three times the median of those before it was stalled."""

STANDSTILL_SECONDS = 5.0
"""A watch that ends so long after the last step saw a job that stood still; less is the time that an orderly end takes."""

REFERENCE_STEPS = 20
"""The pace before a fault is the median of so many steps, or of all there are when fewer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What the steps say about one drill. ``last_good`` is T1's step, ``first_new`` T9's; ``after`` are all steps from then on."""

    before: tuple[DoneStep, ...]
    last_good: DoneStep | None
    first_new: DoneStep | None
    after: tuple[DoneStep, ...]
    old: Round | None
    new: Round | None
    path: str
    stalled: bool

    @property
    def highest_before(self) -> int | None:
        """The highest step that was done before the disturbance."""
        done = [step.step for step in self.before]
        return max(done) if done else None

    @property
    def usual_seconds(self) -> float | None:
        """The pace before the fault."""
        return pace(self.before[-REFERENCE_STEPS:])


def passage(drill: Drill, told: Progress, effect: Moment, saved: int | None = None) -> Passage:
    """Reads the way of a job through one drill. ``saved``: the newest checkpoint before the fault, where known."""
    inside = [(at, index, step) for at, index, step in told.steps if at <= drill.horizon]
    old_index = told.round_at(effect.at)
    old = told.rounds[old_index] if old_index is not None else None
    new_index = _new_round(told, inside, drill, effect, old_index)
    if new_index is None:
        return _same_round(drill, [step for _, _, step in inside], old, effect)
    before = tuple(step for _, index, step in inside if index < new_index)
    after = tuple(step for at, index, step in inside if index >= new_index and at > effect.at)
    new, last, first = told.rounds[new_index], before[-1] if before else None, after[0] if after else None
    return Passage(before, last, first, after, old, new, _path(old, new, saved), stalled=True)


def _new_round(
    told: Progress, inside: list[tuple[float, int, DoneStep]], drill: Drill, effect: Moment, old: int | None
) -> int | None:
    if old is None:
        return None
    stepped = [index for at, index, _ in inside if at > effect.at and index > old]
    if stepped:
        return stepped[0]
    begun = [
        index
        for index, group in enumerate(told.rounds)
        if index > old and any(effect.at < report.at <= drill.horizon for report in group.up.values())
    ]
    return begun[-1] if begun else None


def _path(old: Round | None, new: Round, saved: int | None) -> str:
    if old is not None and new.nodes - old.nodes:
        return "replace"
    restored = [int(report.data["step"]) for report in new.loaded.values() if isinstance(report.data.get("step"), int)]
    if saved is not None and restored and min(restored) < saved:
        return "fall back"
    return "restart"


def _same_round(drill: Drill, steps: list[DoneStep], old: Round | None, effect: Moment) -> Passage:
    before = tuple(step for step in steps if step.at <= effect.at)
    following = tuple(step for step in steps if step.at > effect.at)
    if drill.injection is not None and drill.injection.intended.expects == "degrade":
        return _degraded(drill, before, following, old)
    return _ridden_out(before, following, old, effect, drill.horizon)


def _ridden_out(
    before: tuple[DoneStep, ...], following: tuple[DoneStep, ...], old: Round | None, effect: Moment, horizon: float
) -> Passage:
    if _stands_still(before, following, horizon):
        done = before + following
        return Passage(done, done[-1] if done else None, None, (), old, None, "none", stalled=True)
    stall = _longest_stall(before, following)
    if stall is None:
        fresh = tuple(step for step in following if step.at - step.seconds >= effect.at)
        first = fresh[0] if fresh else None
        return Passage(before, before[-1] if before else None, first, fresh, old, None, "ride out", stalled=False)
    done = before + following[:stall]
    return Passage(done, done[-1] if done else None, following[stall], following[stall:], old, None, "ride out", stalled=True)


def _stands_still(before: tuple[DoneStep, ...], following: tuple[DoneStep, ...], horizon: float) -> bool:
    """Whether nothing was done any more up to the end of the watch: a stall that never ended is no recovery."""
    done = before + following
    usual = _usual_spacing(before)
    return not done or horizon - done[-1].at > max(STANDSTILL_SECONDS, STALL_RATIO * (usual or 0.0))


def _longest_stall(before: tuple[DoneStep, ...], following: tuple[DoneStep, ...]) -> int | None:
    usual = _usual_spacing(before)
    gaps = [(second.at - first.at, index) for index, (first, second) in enumerate(pairwise((*before[-1:], *following)))]
    if usual is None or not gaps:
        return None
    longest, index = max(gaps)
    return index if longest > STALL_RATIO * usual else None


def _usual_spacing(before: tuple[DoneStep, ...]) -> float | None:
    gaps = [second.at - first.at for first, second in pairwise(before[-REFERENCE_STEPS:])]
    return median(gaps) if gaps else None


def _degraded(drill: Drill, before: tuple[DoneStep, ...], following: tuple[DoneStep, ...], old: Round | None) -> Passage:
    """Slower until undone: the disturbance ends with the undo, and the first new step is the first that began after it."""
    undone = drill.injection.undone if drill.injection else None
    fresh = tuple(step for step in following if undone is not None and step.at - step.seconds >= undone.at)
    last = before[-1] if before else None
    return Passage(before, last, fresh[0] if fresh else None, fresh, old, None, "degrade", stalled=False)
