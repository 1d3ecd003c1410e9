"""The one channel to a node's agent: requests and answers multiplexed, events as they come."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import paramiko

from chaos.agent.frames import MAGIC, Decoder, Garbled, encode
from chaos.errors import ConnectionLost

Document = Mapping[str, Any]

SILENT_AFTER = 4.0
"""Seconds without an answer after which a node counts as lost: some times the longest pause of a loaded one."""


class AgentChannel:
    """Speaks frames over an open SSH channel. Every request gets one answer or an error, also when the channel breaks."""

    def __init__(
        self, channel: paramiko.Channel, where: str, on_event: Callable[[Document], None], on_lost: Callable[[str], None]
    ) -> None:
        self._channel = channel
        self._where = where
        self._on_event = on_event
        self._on_lost = on_lost
        self._numbers = itertools.count(1)
        self._pending: dict[int, Future[Document]] = {}
        self._lock = threading.Lock()
        self._lost = ""
        self._is_closing = False
        self._beat: Future[Document] | None = None
        self._beat_at = 0.0
        self.hello: Future[Document] = Future()
        self._reader = threading.Thread(target=self._read, name=f"agent-{where}", daemon=True)
        self._reader.start()

    @property
    def is_open(self) -> bool:
        """Whether an answer can still come."""
        return not self._lost

    def ask(self, verb: str, given: Document, deadline: float | None = None) -> Future[Document]:
        """Sends a request; its answer comes later."""
        number = next(self._numbers)
        answer: Future[Document] = Future()
        with self._lock:
            if self._lost:
                answer.set_exception(self._lost_error(verb))
                return answer
            self._pending[number] = answer
        try:
            self._channel.sendall(encode({"id": number, "do": verb, "with": dict(given), "deadline": deadline}))
        except (OSError, EOFError, paramiko.SSHException) as error:
            self._lose(str(error) or "the channel is closed")
        return answer

    def acknowledge(self, sequence: int) -> None:
        """Lets the agent forget what has arrived; a broken channel is noticed by the reader."""
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.sendall(encode({"ack": sequence}))

    def beat(self, now: float) -> None:
        """Asks whether the agent is there; one that owes an answer for too long is given up.

        A node that lost its power says nothing: TCP alone notices after many seconds, and only when something waits to be sent.
        """
        if self._beat is None or self._beat.done():
            self._beat, self._beat_at = self.ask("ping", {}), now
        elif now - self._beat_at > SILENT_AFTER:
            self._lose(f"no answer for {SILENT_AFTER:g} s")

    def close(self) -> None:
        """Closes the channel on our side; the agent stays."""
        self._is_closing = True
        self._channel.close()
        self._reader.join(2.0)

    def _read(self) -> None:
        decoder = Decoder()
        try:
            rest = self._skip_noise()
            while True:
                for document in decoder.feed(rest):
                    self._take(document)
                rest = self._channel.recv(1 << 16)
                if not rest:
                    break
            self._lose(self._last_words())
        except (OSError, EOFError, Garbled, paramiko.SSHException) as error:
            self._lose(f"{type(error).__name__}: {error}")

    def _skip_noise(self) -> bytes:
        """What shells and banners print before the agent speaks is skipped; all of it is kept for the error if it never does."""
        seen = b""
        while MAGIC not in seen:
            data = self._channel.recv(1 << 16)
            if not data:
                raise EOFError(f"the agent did not start: {seen.decode(errors='replace')[-300:]!r} {self._last_words()}")
            seen += data
        return seen.partition(MAGIC)[2]

    def _last_words(self) -> str:
        stderr = b""
        with contextlib.suppress(OSError):
            self._channel.settimeout(1.0)
            stderr = self._channel.recv_stderr(4000) if self._channel.recv_stderr_ready() else b""
        return stderr.decode(errors="replace").strip()[-300:] or "the channel ended"

    def _take(self, document: Document) -> None:
        if "event" in document:
            self._on_event(document["event"])
        elif "hello" in document:
            self.hello.set_result(document["hello"])
        else:
            with self._lock:
                answer = self._pending.pop(int(document.get("id", 0)), None)
            if answer is not None:
                answer.set_result(document)

    def _lose(self, why: str) -> None:
        with self._lock:
            if self._lost:
                return
            self._lost = why
            pending, self._pending = self._pending, {}
        for answer in pending.values():
            answer.set_exception(self._lost_error("wait for an answer"))
        if not self.hello.done():
            self.hello.set_exception(self._lost_error("start the agent"))
        if not self._is_closing:
            self._on_lost(why)

    def _lost_error(self, attempted: str) -> ConnectionLost:
        return ConnectionLost(
            attempted, where=self._where, why=self._lost, todo="whether it took place is unknown: look at the node"
        )
