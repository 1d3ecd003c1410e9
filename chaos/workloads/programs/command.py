"""Runs a user's own command as one rank and passes on every line that it prints, with the time at which it came."""

import json
import os
import subprocess
import sys

from rank import Place, tell


def main():
    """Runs the command in ``CHAOS_COMMAND`` (a JSON list); ends as it ends."""
    place = Place()
    argv = json.loads(os.environ["CHAOS_COMMAND"])
    tell("rank.up", **place.identity())
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            tell("output", rank=place.rank, text=line.rstrip("\n"))
    if process.returncode != 0:
        tell("rank.failed", rank=place.rank, error="CommandFailed", text="exit status {}".format(process.returncode))
        sys.exit(process.returncode if process.returncode > 0 else 128 - process.returncode)
    tell("rank.finished", rank=place.rank, step=0)


if __name__ == "__main__":
    main()
