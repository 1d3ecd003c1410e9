"""Bodies of events to JSON and back. What is written can always be read: unknown kinds and wrong fields are errors, not guesses."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from chaos.model.events import BODIES, Body


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(BODIES[kind])


def encode_body(body: Body) -> dict[str, Any]:
    """The JSON form of a body, without its kind."""
    document: dict[str, Any] = _adapter(body.kind).dump_python(body, mode="json")
    return document


def decode_body(kind: str, document: object) -> Body:
    """The body that :func:`encode_body` wrote.

    Raises:
        ValueError: the kind is unknown or the fields do not fit.
    """
    if kind not in BODIES:
        raise ValueError(f"unknown kind of event {kind!r}")
    try:
        body: Body = _adapter(kind).validate_python(document)
    except ValidationError as error:
        raise ValueError(f"the body of a {kind!r} event does not fit: {error}") from error
    return body
