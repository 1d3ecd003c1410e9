"""Plays the nodes' agents for jobs that all run on this machine: writes their files, starts them, reads their events."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from chaos.model.guards import Job
from chaos.model.nodes import Accelerator, Cluster, Interface, Node, Role
from chaos.protocols.workload import Launch


def loopback_cluster(shared: Path, *, compute: int = 2, spares: int = 0, ranks: int = 2) -> Cluster:
    """Nodes that are all this machine."""

    def node(name: str, role: Role, accelerators: int) -> Node:
        return Node(
            name=name,
            address="127.0.0.1",
            role=role,
            accelerators=tuple(Accelerator(index, f"GPU-{name}-{index}", "") for index in range(accelerators)),
            management=Interface("lo", "127.0.0.1"),
            training=(Interface("lo", "127.0.0.1/8", rail=0),),
            python=sys.executable,
            shared_storage=str(shared),
        )

    nodes = [node(f"node{number}", Role.COMPUTE, ranks) for number in range(1, compute + 1)]
    nodes += [node(f"spare{number}", Role.SPARE, ranks) for number in range(1, spares + 1)]
    return Cluster("loopback", (*nodes, node("head", Role.HEAD, 0)), contracted_slots=compute)


class LocalNodes:
    """The nodes of a launch, each with a home folder of its own."""

    def __init__(self, folder: Path, prefix: dict[str, list[str]] | None = None) -> None:
        self.folder = folder
        self.prefix = prefix or {}
        self.jobs: dict[str, subprocess.Popen[bytes]] = {}
        self.events_of: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.jobs.values():
            if process.poll() is None:
                process.terminate()
        for process in self.jobs.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, launch: Launch) -> None:
        """Starts all jobs in their order."""
        for node, job in launch.jobs:
            self.start_job(node, job)

    def start_job(self, node: str, job: Job) -> None:
        """Starts one job as the agent of its node would."""
        home = self.folder / node / "run"

        def place(text: str) -> str:
            return text.replace("{home}", str(home)).replace("{run}", home.name)

        for file in job.files:
            path = Path(place(file.path))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.content)
        place_of_job = home / "jobs" / job.name
        place_of_job.mkdir(parents=True, exist_ok=True)
        self.events_of[node] = place_of_job / "events"
        given = {name: place(value) for name, value in job.environment.items()}
        environment = {**os.environ, **given, "CHAOS_EVENTS": str(self.events_of[node])}
        with (home / f"{job.name}.output").open("ab") as output:
            self.jobs[node] = subprocess.Popen(
                [*self.prefix.get(node, []), *map(place, job.argv)],
                cwd=place(job.directory) or place_of_job,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def events(self, what: str = "") -> list[dict[str, Any]]:
        """All events so far with their node, in the order of time (one clock: one machine)."""
        found = [{**event, "node": node} for node, path in self.events_of.items() for event in _lines(path)]
        return sorted((e for e in found if what in ("", e["what"])), key=lambda event: event["at"])

    def wait(self, condition: Callable[[], Any], seconds: float, why: str) -> Any:
        """Waits until a condition gives something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(0.05)
        raise AssertionError(f"{why} within {seconds} s; {self.tails()}")

    def step(self, number: int, seconds: float) -> None:
        """Waits until some rank has ended a step."""
        self.wait(lambda: any(e["data"]["step"] >= number for e in self.events("rank.step")), seconds, f"no step {number}")

    def rank(self, number: int) -> dict[str, Any]:
        """The newest ``rank.up`` of a rank."""
        return [e for e in self.events("rank.up") if e["data"]["rank"] == number][-1]

    def finish(self, seconds: float) -> None:
        """Waits until every runner has ended well."""
        runners = {node: job for node, job in self.jobs.items() if node != "head"}
        self.wait(lambda: all(job.poll() is not None for job in runners.values()), seconds, "the job is not finished")
        assert {node: job.returncode for node, job in runners.items()} == dict.fromkeys(runners, 0), self.tails()

    def lose(self, node: str) -> float:
        """Ends all that runs on a node, as when it is switched off; returns when."""
        process = self.jobs.pop(node)
        at = kill(process.pid)
        process.wait()
        return at

    def tails(self) -> str:
        """The last words of every job."""
        return "\n".join(f"--- {p}: {p.read_text()[-3000:]}" for p in self.folder.glob("*/run/*.output"))


def losses(events: list[dict[str, Any]]) -> dict[int, set[str]]:
    """All losses told for each step, as hexadecimal floats."""
    by_step: dict[int, set[str]] = {}
    for event in events:
        if event["what"] == "rank.step":
            by_step.setdefault(event["data"]["step"], set()).add(event["data"]["loss"])
    return by_step


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> float:
    """Signals a rank; returns when."""
    at = time.monotonic()
    os.kill(pid, number)
    return at


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text().splitlines():
            yield json.loads(line)
