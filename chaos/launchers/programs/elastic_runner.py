"""Keeps one node's elastic agent running while the node is fit, and takes it out of the job while it is not. Standard library only."""

import json
import os
import signal
import subprocess
import sys
import time

import elastic_gate
from elastic_events import ending, tell

_POLL = 0.2
_GRACE = 1.5  # seconds for the agent to say that it leaves
_AGAIN = 1.0  # seconds before an agent that ended badly is started again


class Runner:
    """One node's part in the job, from the gate to the agent's end."""

    def __init__(self, config):
        self.gate = elastic_gate.Gate(config)
        self.agent = None
        self.not_before = 0.0
        tell("gate.checks", links=config["interfaces"], devices=self.gate.devices.about)

    def run(self):
        """Returns when the job is finished."""
        while True:
            self._mind_the_gate()
            if self._is_finished():
                return
            if self.agent is None and not self.gate.is_out and time.monotonic() >= self.not_before:
                self._start()
            self._wait()

    def _mind_the_gate(self):
        reasons = self.gate.reasons()
        if reasons and not self.gate.is_out:
            self.gate.is_out = True
            tell("gate.out", reasons=reasons)
            self.stop()
        elif not reasons and self.gate.is_out:
            self.gate.is_out = False
            tell("gate.in")

    def _start(self):
        code = "import elastic_agent; elastic_agent.main()"
        environment = dict(os.environ, CHAOS_RUNNER=str(os.getpid()))
        self.agent = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, env=environment)
        tell("elastic.started", pid=self.agent.pid)

    def _wait(self):
        if self.agent is None:
            time.sleep(_POLL)
            return
        try:
            self.agent.wait(_POLL)
        except subprocess.TimeoutExpired:
            pass

    def _is_finished(self):
        if self.agent is None or self.agent.poll() is None:
            return False
        status = self.agent.returncode
        self._bury()
        self.not_before = time.monotonic() + _AGAIN
        return status == 0

    def stop(self):
        """Ends the agent and all that it started."""
        if self.agent is None:
            return
        self.agent.terminate()
        try:
            self.agent.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.agent.kill()
            self.agent.wait()
        self._bury()

    def _bury(self):
        try:
            os.killpg(self.agent.pid, signal.SIGKILL)  # ranks and fork server share the agent's process group
        except (ProcessLookupError, PermissionError):
            pass
        tell("elastic.ended", **ending(self.agent.returncode))
        self.agent = None


def main():
    """Runs until the job is finished or somebody ends the runner."""
    runner = Runner(json.loads(os.environ["CHAOS_ELASTIC"]))

    def leave(number, _frame):
        runner.stop()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    runner.run()


if __name__ == "__main__":
    main()
