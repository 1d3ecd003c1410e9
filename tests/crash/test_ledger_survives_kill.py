"""Kill -9 in the middle of writing: nothing that was acknowledged is lost, and the record opens again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaos.ledger.reading import read_record

WRITER = """
import sys
from pathlib import Path
from chaos.engine.clock import SystemClock
from chaos.ledger.folder import RunFolder
from chaos.ledger.writing import Ledger
from chaos.model.events import Noted
ledger = Ledger(RunFolder(Path(sys.argv[1])), SystemClock())
while True:
    print(ledger.append(Noted("test", "x" * 200)).sequence, flush=True)
"""


@pytest.mark.parametrize("after", [0.05, 0.12, 0.2])
def test_no_acknowledged_event_is_lost(tmp_path: Path, after: float) -> None:
    acknowledged = 0
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True) as writer:
            first = writer.stdout.readline()
            time.sleep(after)
            writer.send_signal(signal.SIGKILL)
            rest = [line for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        acknowledged = int((rest or [first])[-1])
        record = read_record(tmp_path / "run" / "ledger.jsonl")
        assert len(record.events) >= acknowledged > 0
