"""Frames on a byte stream: decimal length, a colon, UTF-8 JSON, a line feed."""

import json
from typing import Any, BinaryIO, Dict, Iterator, Optional

LONGEST = 64 * 1024 * 1024
MAGIC = b"CHAOS-AGENT 1\n"


class Garbled(Exception):
    """The stream is not made of frames; nothing after this can be trusted."""


def encode(document: Dict[str, Any]) -> bytes:
    """One frame."""
    text = json.dumps(document, separators=(",", ":")).encode()
    return str(len(text)).encode() + b":" + text + b"\n"


class Decoder:
    """Takes bytes as they come and gives back whole documents."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Dict[str, Any]]:
        """The documents that are complete now.

        Raises:
            Garbled: the bytes are no frame.
        """
        self._rest += data
        while True:
            document = self._take()
            if document is None:
                return
            yield document

    def _take(self) -> Optional[Dict[str, Any]]:
        colon = self._rest.find(b":", 0, 12)
        if colon < 0:
            if len(self._rest) >= 12:
                raise Garbled("no length: %r" % bytes(self._rest[:40]))
            return None
        digits = bytes(self._rest[:colon])
        if not digits.isdigit() or int(digits) > LONGEST:
            raise Garbled("no length: %r" % bytes(self._rest[:40]))
        end = colon + 1 + int(digits)
        if len(self._rest) <= end:
            return None
        text, closing = bytes(self._rest[colon + 1 : end]), self._rest[end]
        del self._rest[: end + 1]
        if closing != 0x0A:
            raise Garbled("a frame does not end where its length says")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Garbled(str(error)) from None
        if not isinstance(document, dict):
            raise Garbled("a frame holds no object")
        return document


def copy(source: BinaryIO, sink: BinaryIO) -> None:
    """Shuttles bytes until the source ends."""
    read = getattr(source, "read1", source.read)
    while True:
        data = read(65536)
        if not data:
            return
        sink.write(data)
        sink.flush()
