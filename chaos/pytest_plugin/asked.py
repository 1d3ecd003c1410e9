"""What the command line asked for, and the values that are read for it, each once in a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chaos.catalog import Catalog
from chaos.errors import UsageError
from chaos.grading.judgement import judge
from chaos.grading.profiles import Profile, load_profile
from chaos.inventory.reading import load
from chaos.ledger.reading import read_history
from chaos.model.history import History
from chaos.model.nodes import Cluster
from chaos.model.verdicts import Judgement
from chaos.protocols.criterion import Criterion

V = TypeVar("V")


@dataclass
class Asked:
    """The options, and everything that follows from them without touching a node."""

    inventory: Path | None
    run: Path | None
    profile_name: str
    replay: bool
    dry_run: bool
    _read: dict[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> Cluster:
        """The cluster of the inventory file.

        Raises:
            UsageError: no file was named, or it is wrong.
        """
        if self.inventory is None:
            raise UsageError("read the inventory", why="none was named", todo="add --inventory FILE, such as inventory/lab.yaml")
        file = self.inventory
        return self._once("cluster", lambda: load(file))

    @property
    def catalog(self) -> Catalog:
        """What this installation knows."""
        return self._once("catalog", Catalog.installed)

    @property
    def profile(self) -> Profile:
        """The profile that grades.

        Raises:
            ProfileError: there is none of this name, or it decides nothing.
        """
        return self._once("profile", lambda: load_profile(self.profile_name, self.catalog.criteria))

    @property
    def history(self) -> History:
        """The record of the run.

        Raises:
            UsageError: no run was named, or its folder has no record.
            Damaged: the record was altered.
        """
        if self.run is None:
            raise UsageError("read the run", why="none was named", todo="add --run DIR, such as runs/<run-id>")
        folder = self.run
        return self._once("history", lambda: read_history(folder))

    @property
    def judgement(self) -> Judgement:
        """All verdicts of the profile over the record."""
        return self._once("judgement", lambda: judge(self.history, self.profile, self.catalog.criteria))

    def requirement(self, kind: str) -> Criterion:
        """The profile's criterion of this kind, or one with its own thresholds.

        Raises:
            PlanError: there is no such criterion.
        """
        asked = (requirement.criterion for requirement in self.profile.requirements)
        return next((criterion for criterion in asked if criterion.kind == kind), None) or self.catalog.criterion(kind, {})

    def known(self, name: str) -> Any:
        """A value that was read already, or None."""
        return self._read.get(name)

    def _once(self, name: str, make: Callable[[], V]) -> V:
        if name not in self._read:
            self._read[name] = make()
        value: V = self._read[name]
        return value


ASKED = pytest.StashKey[Asked]()


def asked_of(config: pytest.Config) -> Asked:
    """What this session's command line asked for."""
    return config.stash[ASKED]
