"""Opens a site for the tests that act. What acts on nodes is imported here and only when it is used."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from chaos.errors import UsageError
from chaos.model.plans import Plan
from chaos.pytest_plugin.asked import Asked

if TYPE_CHECKING:
    from chaos.engine.session import Session

_RUNS = Path("runs")


@contextmanager
def opened(asked: Asked, plan: Plan) -> Iterator[Session]:
    """A session on the named run, on the interrupted one with the same plan, or on a new one. SIGTERM acts like Ctrl-C.

    Raises:
        UsageError: nodes may not be touched.
    """
    from chaos.engine.opening import choose_folder, open_session  # noqa: PLC0415
    from chaos.ledger.folder import RunFolder  # noqa: PLC0415
    from chaos.transport.fleet import SshFleet  # noqa: PLC0415

    if asked.replay or asked.dry_run:
        raise UsageError("reach the nodes", why="this session was asked to touch none")
    folder = RunFolder(asked.run) if asked.run else choose_folder(_RUNS, asked.cluster, plan, new=False)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with open_session(asked.cluster, asked.catalog, plan, folder, SshFleet, tell=_tell) as session:
            yield session
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(text: str) -> None:
    """Progress; pytest shows it with ``-s`` and beside a test that fails."""
    sys.stderr.write(f"{text}\n")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
