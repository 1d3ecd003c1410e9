"""One node with its agent, over SSH."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from dataclasses import fields
from typing import Any

from chaos.errors import ChaosError, CommandFailed, CommandTimeout, Unsupported
from chaos.model.acts import Act, Answer, Power, Script, encode
from chaos.model.guards import ClockReading, Guard, GuardState, Job, JobState, Watch
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.shell import Shell
from chaos.transport.channel import AgentChannel

_GRACE = 3.0
"""Seconds beyond its own deadline that the agent has to say that the deadline passed."""
_CLOCK_ROUNDS = 7


class SshShell(Shell):
    """Asks the agent through whatever channel is open now; ``channel`` reconnects when the last one was lost."""

    def __init__(self, node: Node, channel: Callable[[], AgentChannel]) -> None:
        self.node = node
        self._open_channel = channel
        self.watches: dict[str, Watch] = {}

    def facts(self) -> Mapping[str, Any]:
        hello = self._open_channel().hello.result(timeout=_GRACE)
        return {**hello.get("facts", {}), "boot_id": hello["boot_id"], "agent_version": hello["version"]}

    def begin(self, act: Act, deadline: Duration) -> Future[Mapping[str, Any]]:
        """Sends an act without waiting; read the answer with :meth:`finish`."""
        if isinstance(act, Power):
            raise Unsupported(
                str(act), ability="PowerControl", where=self.node.name, why="a node's agent cannot act on its own power"
            )
        return self._open_channel().ask("perform", {"act": encode(act)}, deadline.seconds)

    def finish(self, pending: Future[Mapping[str, Any]], what: str, deadline: Duration) -> Answer:
        """The answer to an act that was sent."""
        return _answer(self._result(pending, what, deadline.seconds))

    def perform(self, act: Act, *, deadline: Duration = 30 * seconds) -> Answer:
        return self.finish(self.begin(act, deadline), str(act), deadline)

    def run(self, script: Script, *, deadline: Duration = 60 * seconds) -> tuple[Answer, ...]:
        if any(isinstance(act, Power) for act in script.acts):
            raise Unsupported("run a script with power acts", ability="PowerControl", where=self.node.name)
        document = self._ask("script", script.encode(), deadline.seconds)
        return tuple(_answer(answer) for answer in document["answers"])

    def arm(self, guard: Guard) -> GuardState:
        given = {
            "id": guard.id, "undo": guard.undo.encode(), "lease": guard.lease.seconds, "deadline": guard.deadline.seconds,
            "fence": guard.fence,
        }  # fmt: skip
        return _guard(self._ask("arm", given))

    def renew(self, guard_id: str, lease: Duration, fence: int) -> GuardState:
        return _guard(self._ask("renew", {"id": guard_id, "lease": lease.seconds, "fence": fence}, 5.0))

    def fire(self, guard_id: str) -> GuardState:
        return _guard(self._ask("fire", {"id": guard_id}, 70.0))

    def disarm(self, guard_id: str) -> GuardState:
        return _guard(self._ask("disarm", {"id": guard_id}))

    def guards(self) -> tuple[GuardState, ...]:
        return tuple(_guard(state) for state in self._ask("guards", {})["guards"])

    def watch(self, watch: Watch) -> None:
        self.watches[watch.name] = watch
        self.watch_again(watch)

    def watch_again(self, watch: Watch) -> None:
        """Asks for a watch, as after a reboot of the node."""
        given = {"name": watch.name, "kind": watch.kind, "arguments": dict(watch.arguments), "period": watch.period.seconds}
        self._ask("watch", given)

    def unwatch(self, name: str) -> None:
        self.watches.pop(name, None)
        self._ask("unwatch", {"name": name})

    def start(self, job: Job) -> JobState:
        given = {
            "name": job.name, "argv": list(job.argv), "environment": dict(job.environment), "directory": job.directory,
            "files": [encode(file) for file in job.files], "events": job.events,
        }  # fmt: skip
        return _job(self._ask("start", given))

    def job(self, name: str) -> JobState:
        return _job(self._ask("job", {"name": name}))

    def stop(self, name: str, *, grace: Duration = 3 * seconds) -> JobState:
        return _job(self._ask("stop", {"name": name, "grace": grace.seconds}, grace.seconds + 10.0))

    def clock(self) -> ClockReading:
        """Of several round trips the shortest bounds the error: the node read its clock somewhere within it."""
        best: tuple[float, float] | None = None
        boot_id = ""
        for _ in range(_CLOCK_ROUNDS):
            sent = time.monotonic()
            document = self._ask("clock", {}, 5.0)
            received = time.monotonic()
            half = (received - sent) / 2
            boot_id = str(document["boot_id"])
            if best is None or half < best[1]:
                best = (float(document["monotonic"]) - (sent + half), half)
        offset, error = best or (0.0, float("inf"))
        return ClockReading(self.node.name, offset, error, boot_id)

    def sweep(self, *, remove: bool) -> tuple[str, ...]:
        return tuple(self._ask("sweep", {"remove": remove}, 60.0)["left"])

    def leave(self) -> None:
        self._ask("leave", {}, 20.0)

    def _ask(self, verb: str, given: Mapping[str, Any], deadline: float = 15.0) -> Mapping[str, Any]:
        return self._result(self._open_channel().ask(verb, given, deadline), verb, deadline)

    def _result(self, pending: Future[Mapping[str, Any]], what: str, deadline: float) -> Mapping[str, Any]:
        try:
            document = pending.result(timeout=deadline + _GRACE)
        except NoAnswer as error:
            raise CommandTimeout(
                what,
                where=self.node.name,
                why=f"no answer within {deadline + _GRACE:g} s",
                todo="the node may be stuck: look at it",
            ) from error
        if "error" in document:
            raise self._refusal(what, document["error"])
        return dict(document["ok"])

    def _refusal(self, what: str, error: Mapping[str, Any]) -> ChaosError:
        words = f"{error.get('name')}: {error.get('text')}"
        if error.get("name") == "Unsupported":
            return Unsupported(what, ability=what, where=self.node.name, why=words)
        return CommandFailed(what, where=self.node.name, tail=words, todo="see the agent's log in its home on the node")


_ANSWER_FIELDS = frozenset(field.name for field in fields(Answer))


def _answer(document: Mapping[str, Any]) -> Answer:
    known = {name: value for name, value in document.items() if name in _ANSWER_FIELDS and name != "took"}
    return Answer(took=Duration.of(float(document.get("took", 0.0))), **known)


def _guard(document: Mapping[str, Any]) -> GuardState:
    return GuardState(
        id=str(document.get("id", "")),
        state=str(document.get("state", "unknown")),
        pid=int(document.get("pid", 0)),
        started=int(document.get("started", 0)),
        why=str(document.get("why", "")),
        failures=tuple(str(words) for words in document.get("failures", ())),
    )


def _job(document: Mapping[str, Any]) -> JobState:
    return JobState(
        name=str(document["name"]),
        is_running=bool(document["is_running"]),
        pid=int(document.get("pid", 0)),
        exit_status=document.get("exit_status"),
        output_tail=str(document.get("output_tail", "")),
    )
