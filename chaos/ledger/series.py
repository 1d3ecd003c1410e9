"""Raw series beside the record: many small rows that are appended as they come and sealed by hash when they count."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from chaos.ledger.folder import RunFolder
from chaos.model.encoding import encode_body
from chaos.model.events import Attached, Observed


class Series:
    """The raw rows of one workload between two seals. ``part`` numbers the files, because a sealed file never changes again."""

    def __init__(self, folder: RunFolder, workload: str) -> None:
        self._folder = folder
        self._workload = workload
        self._file: BinaryIO | None = None
        self._path: Path | None = None

    def add(self, row: Observed) -> None:
        """Appends a row."""
        if self._file is None:
            self._path = _next_part(self._folder.series, self._workload)
            self._file = self._path.open("xb")
        self._file.write(json.dumps(encode_body(row), separators=(",", ":")).encode() + b"\n")

    def flush(self) -> None:
        """Hands what was added to the operating system, so that it outlives this process."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Ends writing without a seal; the part is adopted when the run is taken up again."""
        if self._file is not None:
            self._file.close()

    def seal(self) -> Attached | None:
        """Closes the current part; what is returned belongs into the ledger. None when there is nothing new."""
        if self._file is None or self._path is None:
            return None
        self._file.close()
        attached = _attach(self._folder, self._path, self._workload)
        self._file, self._path = None, None
        return attached


def adopt_unsealed(folder: RunFolder, sealed: Iterable[str]) -> tuple[Attached, ...]:
    """Parts that a killed process left unsealed, with a torn last line cut off; they belong into the ledger before anything else."""
    known = set(sealed)
    orphans = [path for path in sorted(folder.series.glob("*.jsonl")) if path.stem not in known]
    for path in orphans:
        content = path.read_bytes()
        os.truncate(path, content.rfind(b"\n") + 1)
    return tuple(_attach(folder, path, path.stem.rpartition("-")[0]) for path in orphans)


def _attach(folder: RunFolder, path: Path, workload: str) -> Attached:
    content = path.read_bytes()
    return Attached(
        name=path.stem,
        path=str(path.relative_to(folder.path)),
        sha256=hashlib.sha256(content).hexdigest(),
        rows=content.count(b"\n"),
        workload=workload,
    )


def _next_part(folder: Path, workload: str) -> Path:
    number = 1
    while (path := folder / f"{workload}-{number:03d}.jsonl").exists():
        number += 1
    return path
