"""T11: when a job is back at the pace it had before."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from chaos.model.folding.steps import DoneStep


@dataclass(frozen=True, slots=True)
class FullSpeed:
    """k steps in a row whose median is within a tolerance of the median before the fault.

    ``steps`` is 20 and ``tolerance`` 5 % by the usual definition of the mark. A drill that was followed by fewer steps asks
    for three quarters of those that it waited for to see steady state. Where the undisturbed steps scatter more than
    5 %, the tolerance is that scatter (three median absolute deviations): a machine that is never steady cannot be asked to be
    steadier than before.
    """

    steps: int = 20
    tolerance: float = 0.05

    def fitted(self, before: tuple[DoneStep, ...], after: tuple[DoneStep, ...], steady_steps: int) -> FullSpeed:
        """The definition as it can be applied to these steps."""
        k = self.steps if len(after) >= self.steps or not steady_steps else max(3, min(self.steps, steady_steps * 3 // 4))
        times = [step.seconds for step in before[-self.steps :]]
        usual = median(times) if times else 0.0
        scatter = 3 * 1.4826 * median(abs(time - usual) for time in times) / usual if usual else 0.0
        return FullSpeed(k, max(self.tolerance, scatter))

    def reached(self, usual: float, after: tuple[DoneStep, ...]) -> DoneStep | None:
        """The last of the first k steps that hold the pace, or None."""
        limit = usual * (1 + self.tolerance)
        times = [step.seconds for step in after]
        for end in range(self.steps, len(after) + 1):
            if median(times[end - self.steps : end]) <= limit:
                return after[end - 1]
        return None
