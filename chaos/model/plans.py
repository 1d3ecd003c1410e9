"""Everything that will be done, fixed before it starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chaos.model.quantities import Duration, seconds


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """A fault by kind and parameters, so that a plan is data."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.kind}({given})" if given else self.kind


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """A workload by kind and parameters under a name that is unique in the plan."""

    name: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preflight:
    """Reach every node, sweep leftovers, measure clocks, ask the probes."""

    id: str = "preflight"
    title: str = "Reach every node, look for leftovers, measure clocks, check devices"
    expected: Duration = 10 * seconds


@dataclass(frozen=True, slots=True)
class Measure:
    """Run a load to its end and keep what it measured."""

    id: str
    title: str
    workload: WorkloadSpec
    expected: Duration = 30 * seconds


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault on one node while a load runs. ``node`` is a name; the plan has already chosen it."""

    id: str
    fault: FaultSpec
    node: str
    limit: Duration = 300 * seconds
    hold: Duration | None = None


@dataclass(frozen=True, slots=True)
class Drills:
    """A load, and strikes one after the other while it runs; each waits for steady state first."""

    id: str
    title: str
    workload: WorkloadSpec
    strikes: tuple[Strike, ...]
    steady_steps: int = 12
    expected: Duration = 240 * seconds


Step = Preflight | Measure | Drills


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, the seed that chose them, and the profile that will grade them."""

    name: str
    profile: str
    seed: int
    steps: tuple[Step, ...]

    def encode(self) -> dict[str, Any]:
        """The JSON form, as it stands in the ledger's first event."""
        encoded: dict[str, Any] = json.loads(json.dumps(self, default=_encode))
        return encoded

    @property
    def digest(self) -> str:
        """SHA-256 over the JSON form: a resumed run must have the same."""
        return hashlib.sha256(json.dumps(self.encode(), sort_keys=True).encode()).hexdigest()


def _encode(value: Any) -> Any:
    if isinstance(value, Duration):
        return str(value)
    return {"type": type(value).__name__, **{name: getattr(value, name) for name in value.__dataclass_fields__}}
