"""The controller's own clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from chaos.model.events import Stamp
from chaos.model.quantities import Duration
from chaos.protocols.clock import Clock

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class SystemClock(Clock):
    """CLOCK_MONOTONIC for durations, UTC for people, and the boot id that says how long the former means anything."""

    def now(self) -> float:
        return time.monotonic()

    def stamp(self) -> Stamp:
        return Stamp(datetime.now(UTC).isoformat(timespec="microseconds"), time.monotonic(), _incarnation())

    def sleep(self, span: Duration) -> None:
        time.sleep(max(0.0, span.seconds))


@cache
def _incarnation() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip() if _BOOT_ID.exists() else "unknown"
