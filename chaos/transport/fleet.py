"""All nodes of a site over SSH: bounded logins, one agent channel each, questions to all at once, reconnects."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from chaos.errors import ChaosError, ConnectionLost, Unreachable
from chaos.model.acts import Question
from chaos.model.guards import NodeEvent
from chaos.model.nodes import Node
from chaos.model.quantities import Duration, seconds
from chaos.protocols.shell import Fleet, Shell
from chaos.transport import agent
from chaos.transport.channel import AgentChannel
from chaos.transport.login import Logins, raise_open_files
from chaos.transport.settings import resolve
from chaos.transport.shell import SshShell

T = TypeVar("T")

WORKERS = 48
"""Logins at once over the whole site; each sshd is asked for fewer, see :data:`chaos.transport.login.HANDSHAKES_PER_SERVER`."""
_AGAIN_AFTER = 2.0
"""Seconds between two tries to reconnect one node: a node that boots is not hammered, an sshd that counts failures not provoked."""
_HELLO_WITHIN = 20.0
_BEAT = 1.0


@dataclass
class _Link:
    """The state of one node's connection."""

    node: Node
    shell: SshShell
    connection: Any = None
    channel: AgentChannel | None = None
    boot_id: str = ""
    lost_at: float = 0.0
    tried_at: float = 0.0
    acknowledged: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class SshFleet(Fleet):
    """See :class:`chaos.protocols.shell.Fleet`."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._logins = Logins()
        self._links: dict[str, _Link] = {}
        self._events: queue.SimpleQueue[NodeEvent] = queue.SimpleQueue()
        self._is_closed = False
        self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self.warning = ""

    def reach(self, nodes: Iterable[Node]) -> Mapping[str, Shell | ChaosError]:
        wanted = list(nodes)
        self.warning = raise_open_files(256 + 4 * len(wanted))
        links = [self._link(node) for node in wanted]
        with ThreadPoolExecutor(max_workers=min(WORKERS, max(1, len(links)))) as pool:
            outcomes = list(pool.map(self._reached, links))
        if not self._heart.is_alive():
            self._heart.start()
        return {link.node.name: outcome for link, outcome in zip(links, outcomes, strict=True)}

    def shell(self, name: str) -> Shell:
        link = self._links.get(name)
        if link is None:
            raise Unreachable("find the node", where=name, why="it was never reached in this run", todo="see the inventory")
        self._open(link)
        return link.shell

    def ask(
        self, names: Iterable[str], question: Question[T], *, deadline: Duration = 15 * seconds
    ) -> Mapping[str, T | ChaosError]:
        """Writes every request before it waits for the first answer."""
        answers: dict[str, T | ChaosError] = {}
        pending = []
        for name in names:
            link = self._links.get(name)
            try:
                if link is None:
                    raise Unreachable("ask", where=name, why="it was never reached in this run")
                pending.append((link, link.shell.begin(question.asks, deadline)))
            except ChaosError as error:
                answers[name] = error
        for link, answer in pending:
            try:
                answers[link.node.name] = question.read(link.shell.finish(answer, str(question), deadline))
            except ChaosError as error:
                answers[link.node.name] = error
        return answers

    def next_event(self, timeout: Duration) -> NodeEvent | None:
        try:
            if timeout.nanoseconds <= 0:
                return self._events.get_nowait()
            return self._events.get(timeout=timeout.seconds)
        except queue.Empty:
            return None

    def close(self) -> None:
        self._is_closed = True
        for link in self._links.values():
            self._hang_up(link)
        self._logins.close()

    def _beat(self) -> None:
        """Asks every agent once a second whether it is there."""
        while not self._is_closed:
            time.sleep(_BEAT)
            for link in list(self._links.values()):
                channel = link.channel
                if channel is not None and channel.is_open and channel.hello.done():
                    channel.beat(time.monotonic())

    def _link(self, node: Node) -> _Link:
        link = self._links.get(node.name)
        if link is None:
            shell = SshShell(node, lambda: self._open(self._links[node.name]))
            link = self._links.setdefault(node.name, _Link(node, shell))
        return link

    def _reached(self, link: _Link) -> Shell | ChaosError:
        try:
            self._open(link)
        except ChaosError as error:
            return error
        return link.shell

    def _open(self, link: _Link) -> AgentChannel:
        """The open channel of a node, a new one when the last was lost.

        Raises:
            SiteError: it cannot be had now.
        """
        with link.lock:
            if link.channel is not None and link.channel.is_open:
                return link.channel
            self._may_try(link)
            link.tried_at = time.monotonic()
            self._hang_up(link)
            return self._connect(link)

    def _may_try(self, link: _Link) -> None:
        since = time.monotonic() - link.tried_at
        if link.lost_at and since < _AGAIN_AFTER:
            raise ConnectionLost(
                "reconnect",
                where=link.node.name,
                why=f"tried {since:.1f} s ago",
                todo=f"a node is tried every {_AGAIN_AFTER:g} s",
            )

    def _connect(self, link: _Link) -> AgentChannel:
        name = link.node.name
        try:
            link.connection = self._logins.open(resolve(link.node), where=name)
            channel = agent.start(link.connection, self._run_id, where=name)
            link.channel = AgentChannel(channel, name, partial(self._event, link), partial(self._lose, link))
            hello = link.channel.hello.result(timeout=_HELLO_WITHIN)
        except TimeoutError as error:
            self._fail(link)
            raise Unreachable("start the agent", where=name, why=f"it did not speak within {_HELLO_WITHIN:g} s") from error
        except ChaosError:
            self._fail(link)
            raise
        self._welcome(link, str(hello["boot_id"]))
        return link.channel

    def _fail(self, link: _Link) -> None:
        link.lost_at = link.lost_at or time.monotonic()
        self._hang_up(link)

    def _welcome(self, link: _Link, boot_id: str) -> None:
        """After a loss: says so, and after a reboot asks for the watches again, which went with the node's memory."""
        before, link.boot_id = link.boot_id, boot_id
        if link.lost_at and before:
            gap = time.monotonic() - link.lost_at
            self._say(link, "channel.restored", {"boot_id": boot_id, "unobserved_seconds": gap})
        if before and before != boot_id:
            link.acknowledged = 0
            self._say(link, "boot", {"boot_id": boot_id})
        link.lost_at = 0.0
        if before and before != boot_id:
            threading.Thread(target=self._watch_again, args=(link,), daemon=True).start()

    def _watch_again(self, link: _Link) -> None:
        for watch in list(link.shell.watches.values()):
            try:
                link.shell.watch_again(watch)
            except ChaosError as error:
                self._say(link, "watch.gap", {"watch": watch.name, "why": str(error), "lost": None})

    def _event(self, link: _Link, document: Mapping[str, Any]) -> None:
        sequence = int(document["sequence"])
        if sequence <= link.acknowledged:
            return
        link.acknowledged = sequence
        body = dict(document.get("body", {}))
        event = NodeEvent(
            link.node.name, sequence, float(document["at"]), str(document["kind"]), body, str(document.get("boot_id", ""))
        )
        self._events.put(event)
        if link.channel is not None:
            link.channel.acknowledge(sequence)

    def _lose(self, link: _Link, why: str) -> None:
        link.lost_at = time.monotonic()
        if not self._is_closed:
            self._say(link, "channel.lost", {"why": why})

    def _say(self, link: _Link, kind: str, body: Mapping[str, Any]) -> None:
        """An event of the channel itself, on our own clock: it has no number among the agent's."""
        self._events.put(NodeEvent(link.node.name, 0, time.monotonic(), kind, body, link.boot_id))

    def _hang_up(self, link: _Link) -> None:
        if link.channel is not None:
            link.channel.close()
            link.channel = None
        if link.connection is not None:
            link.connection.close()
            link.connection = None
