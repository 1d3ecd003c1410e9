"""From a history to the timeline of each drill."""

from __future__ import annotations

from chaos.model.folding.alarms import Strength, alarms, strength
from chaos.model.folding.full_speed import FullSpeed
from chaos.model.folding.injections import Drill, Moment, drills
from chaos.model.folding.marks import Signs, mark_all
from chaos.model.folding.recovery_path import Passage, passage
from chaos.model.folding.steps import Progress, progress
from chaos.model.folding.stragglers import straggler_alarms
from chaos.model.history import History
from chaos.model.observations import Alarm
from chaos.model.timeline import Timeline

USUAL = FullSpeed()


def timelines(history: History, full_speed: FullSpeed = USUAL) -> tuple[Timeline, ...]:
    """The timeline of every drill that was begun, in order."""
    return history.remember(("timelines", full_speed), lambda: tuple(_timeline(history, d, full_speed) for d in drills(history)))


def _timeline(history: History, drill: Drill, full_speed: FullSpeed) -> Timeline:
    effect = drill.injection.took_effect if drill.injection else None
    told = progress(history, drill.begun.workload)
    way = passage(drill, told, effect, _newest_checkpoint(history, drill, effect)) if effect else _no_passage(drill, told)
    wanted = full_speed.fitted(way.before, way.after, drill.begun.steady_steps)
    signs = _signs(history, drill, effect, way)
    marks = mark_all(drill, effect, way, signs, wanted)
    restored = _restored(way)
    intended = drill.injection.intended if drill.injection else None
    undone = drill.injection.undone if drill.injection else None
    return Timeline(
        drill=drill.begun.drill,
        fault=intended.fault if intended else drill.begun.fault,
        fault_class=intended.fault_class if intended else "",
        fidelity=intended.fidelity if intended else "",
        node=drill.begun.node,
        outcome=drill.ended[1].outcome if drill.ended else "unfinished",
        path=way.path,
        marks=marks,
        named_node=signs.culprit.node if signs.culprit else "",
        lost_steps=_lost(way, restored),
        restored_step=restored,
        affected_nodes=_affected(history, drill, effect, way),
        ranks_stalled=way.old.world if way.old and way.stalled else 0,
        expects=intended.expects if intended else "",
        limit_seconds=drill.begun.limit_seconds,
        undone_at=undone.at if undone else None,
        highest_step=way.highest_before,
        full_speed_steps=wanted.steps,
        full_speed_tolerance=wanted.tolerance,
        injection=intended.injection if intended else "",
        evidence=drill.evidence,
    )


def _no_passage(drill: Drill, told: Progress) -> Passage:
    before = tuple(step for at, _, step in told.steps if at <= drill.begun.at)
    return Passage(before, before[-1] if before else None, None, (), None, None, "none", stalled=False)


def _newest_checkpoint(history: History, drill: Drill, effect: Moment | None) -> int | None:
    until = effect.at if effect else drill.begun.at
    saves = history.observations("rank.saved", workload=drill.begun.workload)
    steps = [row.data["step"] for row in saves if row.at <= until and isinstance(row.data.get("step"), int)]
    return steps[-1] if steps else None


def _signs(history: History, drill: Drill, effect: Moment | None, way: Passage) -> Signs:
    """The first alarm, and the first that names the node which the strongest evidence points at, up to the first new step."""
    if effect is None or drill.injection is None:
        return Signs(None, None, ())
    earliest = drill.injection.earliest_effect or effect.at
    until = way.first_new.at if way.first_new else drill.horizon
    slow = straggler_alarms(history, drill.begun.workload) if way.path == "degrade" else ()
    heard = sorted(
        (a for a in (*alarms(history), *slow) if earliest - a.error <= a.at <= max(until, earliest)), key=lambda alarm: alarm.at
    )
    naming = [alarm for alarm in heard if alarm.names_culprit]
    best = max(naming, key=lambda alarm: (strength(alarm), -alarm.at), default=None)
    culprit = next((alarm for alarm in naming if best and alarm.node == best.node), None)
    return Signs(heard[0] if heard else None, culprit, tuple(heard))


def _restored(way: Passage) -> int | None:
    if way.new is None or way.new.complete(way.new.loaded) is None:
        return None
    steps = [report.data.get("step") for report in way.new.loaded.values()]
    return min((step for step in steps if isinstance(step, int)), default=None)


def _lost(way: Passage, restored: int | None) -> int | None:
    if way.new is None:
        return 0 if way.first_new is not None else None
    if restored is None or way.highest_before is None:
        return None
    return max(0, way.highest_before - restored)


def _affected(history: History, drill: Drill, effect: Moment | None, way: Passage) -> tuple[str, ...]:
    """Nodes with a part that broke, or that the job went on without, from the fault to the end of its aftermath."""
    if effect is None:
        return ()
    hurt: list[Alarm] = [a for a in alarms(history) if effect.at - a.error <= a.at <= drill.horizon]
    broken = {alarm.node for alarm in hurt if strength(alarm) is Strength.PART or alarm.cause == "channel lost"}
    left = way.old.nodes - way.new.nodes if way.old and way.new else frozenset()
    return tuple(sorted(broken | left))
