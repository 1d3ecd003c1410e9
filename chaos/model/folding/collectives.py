"""All-reduce results, with what makes them untrustworthy told apart from what makes them bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaos.model.events import Measured
from chaos.model.history import History

ALL_REDUCE = "all-reduce"


@dataclass(frozen=True, slots=True)
class Sweep:
    """One all-reduce measurement. ``invalid``: it did not do what it claims; ``missing``: sizes or nodes it should have had."""

    sequence: int
    measured: Measured
    sizes: int
    invalid: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """One row for each size."""
        return self.measured.rows

    def row(self, size_bytes: int = 0) -> Mapping[str, Any] | None:
        """The row of a size; of the largest when none is named."""
        rows = [row for row in self.rows if isinstance(row.get("size_bytes"), int)]
        if size_bytes:
            return next((row for row in rows if row["size_bytes"] == size_bytes), None)
        return max(rows, key=lambda row: int(row["size_bytes"]), default=None)


def sweeps(history: History) -> tuple[Sweep, ...]:
    """All all-reduce measurements of a run, in order."""
    return tuple(_sweep(history, number, body) for number, body in history.of(Measured) if body.type == ALL_REDUCE)


def _sweep(history: History, number: int, body: Measured) -> Sweep:
    load = history.workload(body.workload)
    wanted = load.parameters.get("sizes", ()) if load else ()
    seen = {row.get("size_bytes") for row in body.rows}
    missing = [f"size {size}" for size in wanted if size not in seen]
    missing += [f"node {name}" for name in (load.nodes if load else ()) if name not in body.nodes]
    if not body.rows:
        missing.append("every size")
    return Sweep(number, body, max(len(wanted), len(body.rows), 1), _flaws(body), tuple(missing))


def _flaws(body: Measured) -> tuple[str, ...]:
    found = []
    if body.ranks_expected < 2:
        found.append(f"an all-reduce over {body.ranks_expected} ranks moves nothing")
    if body.ranks_proven != body.ranks_expected:
        found.append(f"{body.ranks_proven} of {body.ranks_expected} ranks proved to take part")
    found += [
        f"the row of size {row.get('size_bytes')} is of {row['ranks']} ranks"
        for row in body.rows
        if "ranks" in row and row["ranks"] != body.ranks_expected
    ]
    return tuple(found)
