"""A run folder made from a history, so that what reads folders can be tried without a cluster."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from chaos.ledger.folder import RunFolder
from chaos.ledger.writing import Ledger
from chaos.model.encoding import encode_body
from chaos.model.events import Attached, Body, Stamp
from chaos.model.history import History
from chaos.model.quantities import Duration
from chaos.protocols.clock import Clock


class StampedClock(Clock):
    """Gives each record the stamp that it had."""

    def __init__(self, first: Stamp) -> None:
        self.next = first

    def now(self) -> float:
        return self.next.monotonic

    def stamp(self) -> Stamp:
        return self.next

    def sleep(self, span: Duration) -> None:
        raise NotImplementedError


def record(history: History, path: Path) -> RunFolder:
    """Writes ledger and series of this history into a new folder."""
    folder = RunFolder(path).make()
    clock = StampedClock(history.events[0].stamp)
    with Ledger(folder, clock) as ledger:
        for event in history.events:
            clock.next = event.stamp
            ledger.append(_sealed(folder, history, event.body))
    return folder


def _sealed(folder: RunFolder, history: History, body: Body) -> Body:
    if not isinstance(body, Attached):
        return body
    rows = [json.dumps(encode_body(row)).encode() + b"\n" for row in history.series[body.name]]
    content = b"".join(rows)
    path = folder.path / body.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return replace(body, sha256=hashlib.sha256(content).hexdigest())
