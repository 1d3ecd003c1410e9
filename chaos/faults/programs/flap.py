"""Takes a port down and puts it back, several times. Runs on a node; stands alone.

Argument: a JSON file with ``down`` and ``restore`` (lists of commands), ``flaps``, ``down_for`` and ``up_for`` in seconds. Ends after the
last flap or at SIGTERM; putting the port back is the last act in any case. A command that fails stops none of the others.
"""

import json
import signal
import subprocess
import sys
import time


def run(commands):
    """Each command on its own; its words go to the output that the agent keeps."""
    for words in commands:
        try:
            subprocess.run(words, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr)


def main():
    """The sequence. SIGTERM raises SystemExit, so the port is always put back."""
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    try:
        for _ in range(given["flaps"]):
            run(given["down"])
            time.sleep(given["down_for"])
            run(given["restore"])
            time.sleep(given["up_for"])
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run(given["restore"])


main()
