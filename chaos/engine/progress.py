"""What a running load is doing right now, folded from what its ranks and its launcher say. Pure: it is fed, and it is asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from chaos.model.events import Observed
from chaos.protocols.fault import RankProcess


@dataclass(frozen=True, slots=True)
class StepMark:
    """A step that every rank of one round has ended; ``at`` is when the last of them did."""

    step: int
    round: int
    at: float


class Progress:
    """The live state of one load of ``world`` ranks."""

    def __init__(self, world: int) -> None:
        self.world = world
        self.round = -1
        self.steps: list[StepMark] = []
        self.checkpoint = ""
        self.out_of_service: set[str] = set()
        self.ready: set[str] = set()
        self.finished: set[int] = set()
        self.failures: list[str] = []
        self.malformed = 0
        self._ranks: dict[int, tuple[int, str, RankProcess]] = {}
        self._reported: defaultdict[tuple[int, int], set[int]] = defaultdict(set)

    def feed(self, seen: Observed) -> None:
        """Takes one observation; what says nothing about progress is passed over, what is malformed is counted."""
        reader = getattr(self, "_" + seen.what.replace(".", "_"), None)
        if reader is None:
            return
        try:
            reader(seen)
        except (KeyError, TypeError, ValueError):
            self.malformed += 1

    def ranks_on(self, node: str) -> tuple[RankProcess, ...]:
        """The ranks of the current round on a node."""
        return tuple(process for number, place, process in self._ranks.values() if place == node and number == self.round)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that hold ranks of the current round."""
        return tuple(sorted({place for number, place, _ in self._ranks.values() if number == self.round}))

    @property
    def spares(self) -> tuple[str, ...]:
        """Nodes that stand ready and hold no rank."""
        return tuple(sorted(self.ready - self.out_of_service - set(self.nodes)))

    @property
    def highest_step(self) -> int:
        """The highest step that all ranks ended."""
        return max((mark.step for mark in self.steps), default=0)

    def steps_since(self, moment: float, *, round_after: int = -1) -> tuple[StepMark, ...]:
        """Steps that ended after a moment, in rounds later than ``round_after``."""
        recent = []
        for mark in reversed(self.steps):
            if mark.at <= moment:
                break
            if mark.round > round_after:
                recent.append(mark)
        return tuple(reversed(recent))

    def _rank_up(self, seen: Observed) -> None:
        data = seen.data
        process = RankProcess(int(data["rank"]), int(data["local_rank"]), int(data["pid"]), int(data["started"]))
        number = int(data["round"])
        self._ranks[process.rank] = (number, seen.node, process)
        self.round = max(self.round, number)

    def _rank_step(self, seen: Observed) -> None:
        rank, step = int(seen.data["rank"]), int(seen.data["step"])
        if rank not in self._ranks:
            return
        number = self._ranks[rank][0]
        reported = self._reported[number, step]
        reported.add(rank)
        if len(reported) == self.world:
            self.steps.append(StepMark(step, number, seen.at))
            del self._reported[number, step]

    def _rank_saved(self, seen: Observed) -> None:
        self.checkpoint = str(seen.data["path"])

    def _rank_finished(self, seen: Observed) -> None:
        self.finished.add(int(seen.data["rank"]))

    def _rank_failed(self, seen: Observed) -> None:
        self.failures.append(f"rank {seen.data.get('rank')} on {seen.node}: {seen.data.get('error')}: {seen.data.get('text')}")

    def _gate_out(self, seen: Observed) -> None:
        self.out_of_service.add(seen.node)
        self.ready.discard(seen.node)

    def _gate_in(self, seen: Observed) -> None:
        self.out_of_service.discard(seen.node)

    def _elastic_started(self, seen: Observed) -> None:
        self.ready.add(seen.node)

    def _elastic_ended(self, seen: Observed) -> None:
        self.ready.discard(seen.node)

    def forget(self, node: str) -> None:
        """A node went down: nothing stands ready on it any more."""
        self.ready.discard(node)
        self.out_of_service.discard(node)
