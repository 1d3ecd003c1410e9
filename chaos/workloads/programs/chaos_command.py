"""A command of the user's as one rank: every line that it prints is passed on with the time at which it came."""

import ctypes
import json
import os
import signal
import subprocess
import sys

from chaos_rank import Rank, started


def end_with_parent():
    """The kernel ends the command when its rank dies, however that happens."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main(words):
    """Entry of a rank; ends as the command ends."""
    rank = Rank()
    rank.tell("rank.up", local_rank=rank.local_rank, pid=os.getpid(), started=started(os.getpid()), sentinel=False)
    with subprocess.Popen(
        json.loads(words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=end_with_parent,  # noqa: PLW1509 - this process has one thread
    ) as command:
        for line in command.stdout:
            rank.tell("output", text=line.rstrip("\n"))
    if command.returncode:
        rank.tell("rank.failed", error="CommandFailed", text="exit status %d" % command.returncode)
        sys.exit(1)
    rank.tell("rank.finished", step=0)
