"""Where a run keeps what: one folder, and nothing of a run is kept anywhere else on the controller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chaos.errors import UsageError


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def ledger(self) -> Path:
        """The append-only record."""
        return self.path / "ledger.jsonl"

    @property
    def lock(self) -> Path:
        """Held with flock by the one process that may write."""
        return self.path / "ledger.lock"

    @property
    def series(self) -> Path:
        """Raw series, one file per workload, attached by hash."""
        return self.path / "series"

    @property
    def attachments(self) -> Path:
        """Node logs and other evidence."""
        return self.path / "attachments"

    @property
    def reports(self) -> Path:
        """What is made from the record; may be deleted and made again."""
        return self.path / "reports"

    @property
    def allure_results(self) -> Path:
        """Result files for Allure."""
        return self.path / "allure-results"

    def make(self) -> RunFolder:
        """Creates the folder.

        Raises:
            UsageError: it cannot be created.
        """
        try:
            for place in (self.path, self.series, self.attachments, self.reports):
                place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                "create the folder of the run", where=str(self.path), why=str(error), todo="name another one with --run"
            ) from error
        return self
