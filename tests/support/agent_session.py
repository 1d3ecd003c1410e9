"""Speaks to a real agent as the transport does: one archive, one relay, frames on its standard streams."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chaos.agent.archive import archive
from chaos.agent.frames import MAGIC, Decoder, encode

PATIENCE = 30.0


def until(seen: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Waits until something is so, and gives it back."""
    deadline = time.monotonic() + patience
    while not (found := seen()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.005)
    return found


def gone(pid: int) -> bool:
    """Whether no such process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def running_below(place: Path | str) -> list[int]:
    """Processes that have a path below this one among their words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            if str(place) in words and not gone(int(entry.name)):
                found.append(int(entry.name))
    return found


class Session:
    """One SSH session's worth of an agent."""

    def __init__(self, home: Path | str, program: Path, *, prefix: tuple[str, ...] = (), **environment: str) -> None:
        if not program.exists():
            program.write_bytes(archive())
        self.home = Path(home)
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        self._hello: dict[str, Any] = {}
        self.relay = subprocess.Popen(
            [*prefix, sys.executable, "-S", "-E", str(program), "relay", "--home", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.relay.stdout.readline() == MAGIC
        decoder = Decoder()
        while data := os.read(self.relay.stdout.fileno(), 65536):
            for document in decoder.feed(data):
                if "event" in document:
                    self.events.append(document["event"])
                elif "hello" in document:
                    self._hello = document["hello"]
                else:
                    self._answers[document["id"]] = document

    @property
    def hello(self) -> dict[str, Any]:
        """What the agent said first."""
        return until(lambda: self._hello)

    def send(self, document: dict[str, Any]) -> None:
        """Sends a frame."""
        self.relay.stdin.write(encode(document))
        self.relay.stdin.flush()

    def ask(self, verb: str, **given: Any) -> dict[str, Any]:
        """The whole answer to a request."""
        number = next(self._numbers)
        self.send({"id": number, "do": verb, "with": given, "deadline": None})
        return until(lambda: self._answers.get(number))

    def do(self, verb: str, **given: Any) -> dict[str, Any]:
        """What a request that succeeds gives back."""
        answer = self.ask(verb, **given)
        assert "ok" in answer, answer
        return answer["ok"]

    def event(self, kind: str, patience: float = PATIENCE, **body: Any) -> dict[str, Any]:
        """The first event of a kind whose body holds this; waits for it."""

        def seen():
            return next((e for e in list(self.events) if e["kind"] == kind and body.items() <= e["body"].items()), None)

        return until(seen, patience)

    def kill_daemon(self) -> None:
        """As an out-of-memory kill does; the session ends with it."""
        os.kill(self.hello["pid"], signal.SIGKILL)
        self.relay.wait(PATIENCE)
        self.close()

    def close(self) -> None:
        """The session ends; daemon, guards and jobs stay."""
        if not self.relay.stdin.closed:
            self.relay.stdin.close()
        self.relay.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.relay.stdout.close()


class Node:
    """A folder in which agents run; whatever a test leaves there is ended with it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.home = place / "home"
        self.program = place / "agent.pyz"
        self.sessions: list[Session] = []

    def session(self, **environment: str) -> Session:
        """Logs in."""
        self.sessions.append(Session(self.home, self.program, **environment))
        return self.sessions[-1]

    def end(self) -> None:
        """Ends everything."""
        for session in self.sessions:
            session.close()
        for pid in running_below(self.place):
            os.kill(pid, signal.SIGKILL)
