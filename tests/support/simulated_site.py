"""A site in a folder: nodes, guards and a training job that live on while the controller is killed.

A mock, and it says so: what it stands for (agents, guards, torch jobs) is exercised for real in ``tests/integration``. Here it makes
every boundary of the engine a place where the controller can be killed, hundreds of times in seconds. Time is simulated: it moves only
when somebody waits. All state lies in one file, so that a killed controller leaves exactly what it had done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos.errors import ChaosError, Unreachable
from chaos.model.acts import Act, Answer, Consult, Question, RemovePath, Script, WriteFile
from chaos.model.events import Stamp
from chaos.model.guards import ClockReading, Guard, GuardState, Job, JobState, NodeEvent, Watch
from chaos.model.nodes import Cluster, Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.clock import Clock
from chaos.protocols.shell import Fleet, Shell

MARK = "/fault"
STEP = 0.1
RESTART = 1.0


class Site:
    """All that outlives the controller. ``kill_at``: the boundary at which the controller dies, counted over its calls."""

    def __init__(self, path: Path, *, kill_at: int = 0) -> None:
        self.path = path
        self.kill_at = kill_at
        self.calls = 0
        empty: dict[str, Any] = {
            "now": 100.0,
            "files": {},
            "guards": {},
            "jobs": {},
            "round": 0,
            "step": 0,
            "stalled": None,
            "next": 0.0,
        }
        self.state: dict[str, Any] = json.loads(path.read_text()) if path.exists() else empty

    @contextmanager
    def boundary(self) -> Iterator[None]:
        """A call of the engine: it may die before the effect (odd numbers) or after it, before it learns of it (even numbers)."""
        self.calls += 1
        if self.kill_at == 2 * self.calls - 1:
            os._exit(9)
        yield
        self.save()
        if self.kill_at == 2 * self.calls:
            os._exit(9)

    def save(self) -> None:
        self.path.write_text(json.dumps(self.state))

    def perform(self, node: str, act: Act) -> Answer:
        files = self.state["files"].setdefault(node, {})
        if isinstance(act, WriteFile):
            files[act.path] = act.content
        elif isinstance(act, RemovePath):
            files.pop(act.path, None)
        elif isinstance(act, Consult) and act.subject == "file":
            return Answer(stdout=json.dumps({"exists": act.arguments["path"] in files}))
        return Answer(stdout="{}")

    def pass_time(self, span: float) -> list[NodeEvent]:
        """Time goes by: leases run out, guards fire, the job makes steps or restarts."""
        end = self.state["now"] + span
        events: list[NodeEvent] = []
        while self.state["now"] < end - 1e-9:
            self.state["now"] = min(end, self.state["now"] + STEP)
            self._fire_due_guards()
            events += self._train()
        return events

    def _fire_due_guards(self) -> None:
        for guard in self.state["guards"].values():
            if guard["state"] == "armed" and self.state["now"] >= min(guard["lease_ends"], guard["ends"]):
                for act in Script.decode(guard["undo"]).acts:
                    self.perform(guard["node"], act)
                guard["state"] = "fired"

    def _train(self) -> list[NodeEvent]:
        state = self.state
        if not state["jobs"]:
            return []
        struck = any(MARK in files for files in state["files"].values())
        if struck and state["stalled"] is None:
            state["stalled"] = state["now"] + RESTART
        if state["stalled"] is not None:
            if state["now"] < state["stalled"] or state.get("recovered"):
                if not state.get("recovered"):
                    return []
            elif not state.get("recovered"):
                state["recovered"] = True
                state["round"] += 1
                return [
                    self._event(
                        "rank.up", rank=rank, local_rank=0, pid=10 + rank, started=1, round=state["round"], node=f"node{rank + 1}"
                    )
                    for rank in (0, 1)
                ]
        if not struck and state.get("recovered"):
            state["recovered"], state["stalled"] = False, None
        state["step"] += 1
        return [self._event("rank.step", rank=rank, step=state["step"], node=f"node{rank + 1}") for rank in (0, 1)]

    def _event(self, what: str, *, node: str, **data: Any) -> NodeEvent:
        self.state["next"] += 1
        line = json.dumps({"what": what, "at": self.state["now"], "data": data})
        return NodeEvent(node, int(self.state["next"]), self.state["now"], "job.line", {"job": "train", "line": line}, "boot")

    @property
    def is_clean(self) -> bool:
        return not any(self.state["files"].values())


class SiteClock(Clock):
    def __init__(self, site: Site) -> None:
        self.site = site

    def now(self) -> float:
        return float(self.site.state["now"])

    def stamp(self) -> Stamp:
        return Stamp("2026-01-01T00:00:00+00:00", self.now(), "boot")

    def sleep(self, span: Duration) -> None:
        self.site.pass_time(span.seconds)


class SiteShell(Shell):
    def __init__(self, site: Site, node: Node) -> None:
        self.site = site
        self.node = node

    def facts(self) -> Mapping[str, Any]:
        return {"boot_id": "boot"}

    def perform(self, act: Act, *, deadline: Duration = 30 * seconds) -> Answer:
        with self.site.boundary():
            return self.site.perform(self.node.name, act)

    def run(self, script: Script, *, deadline: Duration = 60 * seconds) -> tuple[Answer, ...]:
        return tuple(self.perform(act) for act in script.acts)

    def arm(self, guard: Guard) -> GuardState:
        with self.site.boundary():
            now = self.site.state["now"]
            self.site.state["guards"][guard.id] = {
                "node": self.node.name, "undo": guard.undo.encode(), "state": "armed", "fence": guard.fence,
                "lease_ends": now + guard.lease.seconds, "ends": now + guard.deadline.seconds,
            }  # fmt: skip
            return GuardState(guard.id, "armed", 1, 1)

    def renew(self, guard_id: str, lease: Duration, fence: int) -> GuardState:
        with self.site.boundary():
            guard = self.site.state["guards"][guard_id]
            guard["lease_ends"] = self.site.state["now"] + lease.seconds
            return GuardState(guard_id, guard["state"])

    def fire(self, guard_id: str) -> GuardState:
        with self.site.boundary():
            guard = self.site.state["guards"][guard_id]
            for act in Script.decode(guard["undo"]).acts:
                self.site.perform(guard["node"], act)
            guard["state"] = "fired"
            return GuardState(guard_id, "fired")

    def disarm(self, guard_id: str) -> GuardState:
        with self.site.boundary():
            self.site.state["guards"].pop(guard_id, None)
            return GuardState(guard_id, "disarmed")

    def guards(self) -> tuple[GuardState, ...]:
        mine = {key: guard for key, guard in self.site.state["guards"].items() if guard["node"] == self.node.name}
        return tuple(GuardState(key, guard["state"], 1, 1) for key, guard in mine.items())

    def watch(self, watch: Watch) -> None: ...

    def unwatch(self, name: str) -> None: ...

    def start(self, job: Job) -> JobState:
        with self.site.boundary():
            state = self.site.state
            state["jobs"][self.node.name] = job.name
            if len(state["jobs"]) == 2:
                state["round"] += 1
                state["announce"] = True
            return JobState(job.name, is_running=True)

    def job(self, name: str) -> JobState:
        return JobState(name, self.node.name in self.site.state["jobs"])

    def stop(self, name: str, *, grace: Duration = 3 * seconds) -> JobState:
        with self.site.boundary():
            self.site.state["jobs"].pop(self.node.name, None)
            return JobState(name, is_running=False)

    def clock(self) -> ClockReading:
        return ClockReading(self.node.name, 0.0, 0.001, "boot")

    def sweep(self, *, remove: bool) -> tuple[str, ...]:
        with self.site.boundary():
            return ()

    def leave(self) -> None:
        with self.site.boundary():
            armed = [
                key
                for key, guard in self.site.state["guards"].items()
                if guard["state"] == "armed" and guard["node"] == self.node.name
            ]
            if armed:
                raise Unreachable("leave", where=self.node.name, why=f"guards are armed: {armed}")


class SiteFleet(Fleet):
    def __init__(self, site: Site, cluster: Cluster) -> None:
        self.site = site
        self.shells = {node.name: SiteShell(site, node) for node in cluster}
        self.queue: list[NodeEvent] = []

    def reach(self, nodes: Iterable[Node]) -> Mapping[str, Shell | ChaosError]:
        with self.site.boundary():
            return {node.name: self.shells[node.name] for node in nodes}

    def shell(self, name: str) -> Shell:
        return self.shells[name]

    def ask(self, names: Iterable[str], question: Question[Any], *, deadline: Duration = 15 * seconds) -> Mapping[str, Any]:
        return {name: self.shells[name].ask(question) for name in names}

    def next_event(self, timeout: Duration) -> NodeEvent | None:
        if not self.queue:
            if self.site.state.pop("announce", False):
                number = self.site.state["round"]
                self.queue += [
                    self.site._event(
                        "rank.up", rank=rank, local_rank=0, pid=10 + rank, started=1, round=number, node=f"node{rank + 1}"
                    )
                    for rank in (0, 1)
                ]
            self.queue += self.site.pass_time(timeout.seconds)
        return self.queue.pop(0) if self.queue else None

    def close(self) -> None: ...
