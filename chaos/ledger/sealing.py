"""How records are chained: each carries a hash over itself and, through ``previous``, over all before it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from chaos.model.encoding import decode_body, encode_body
from chaos.model.events import Body, Event, Stamp

GENESIS = "0" * 64
"""What the first record names as the one before it."""


def _canonical(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def seal_record(sequence: int, stamp: Stamp, body: Body, previous: str) -> tuple[Event, bytes]:
    """A new event and its line, newline included."""
    record: dict[str, Any] = {
        "sequence": sequence,
        "stamp": {"utc": stamp.utc, "monotonic": stamp.monotonic, "incarnation": stamp.incarnation},
        "kind": body.kind,
        "body": encode_body(body),
        "previous": previous,
    }
    seal = hashlib.sha256(_canonical(record)).hexdigest()
    return Event(sequence, stamp, body, previous, seal), _canonical({**record, "seal": seal}) + b"\n"


def open_record(line: bytes, sequence: int, previous: str) -> Event:
    """The event in a line, verified against its own seal and its place in the chain.

    Raises:
        ValueError: it is not JSON, altered, or not the one that follows.
        TypeError: it is not a record.
    """
    record = json.loads(line)
    if not isinstance(record, dict):
        raise TypeError("not a record")
    seal = record.pop("seal", None)
    if hashlib.sha256(_canonical(record)).hexdigest() != seal:
        raise ValueError("the seal does not match the record")
    if record["sequence"] != sequence or record["previous"] != previous:
        raise ValueError(f"record {record['sequence']} does not follow record {sequence - 1}")
    return Event(sequence, Stamp(**record["stamp"]), decode_body(record["kind"], record["body"]), previous, seal)
