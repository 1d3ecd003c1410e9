"""The one process that owns a lab: parent of its nodes, their BMC, and the end of them when it ends."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaos.errors import ChaosError, UsageError
from chaos.lab import cgroups, kernel, network
from chaos.lab.machines import start_node, start_switch
from chaos.lab.plan import LabPlan, NodePlan

_REBOOT, _POWER_OFF = signal.SIGHUP, signal.SIGINT
"""By these signals the kernel ends the first process of a namespace in which reboot(2) was called."""


class Supervisor:
    """Answers one request a line on a unix socket, and watches over its nodes in between."""

    def __init__(self, lab: LabPlan) -> None:
        self.lab = lab
        self.switch = 0
        self.pids: dict[str, int] = {}
        self.power_on_at: dict[str, float] = {}
        self.is_ending = False
        self._verbs: dict[str, Callable[[dict[str, Any]], Any]] = {
            "status": lambda _given: self.status(),
            "boot": lambda given: self.boot(self.lab.node(given["node"])),
            "crash": lambda given: self.crash(self.lab.node(given["node"]), silent=not given.get("loud", False)),
            "cable": lambda given: self.cable(self.lab.node(given["node"]), given["network"], plugged=given["plugged"]),
            "arm": lambda given: self.arm(self.lab.node(given["node"]), float(given["after"])),
            "disarm": lambda given: self.power_on_at.pop(self.lab.node(given["node"]).name, None),
            "down": lambda _given: self.end(),
        }

    def up(self) -> None:
        """Lays the networks and boots every node."""
        network.ip_batch(network.host_batch(self.lab))
        self.switch = start_switch()
        network.ip_batch(network.switch_batch(), inside=self.switch)
        for node in self.lab.nodes:
            self.boot(node)

    def serve(self, listener: socket.socket) -> None:
        """Until it is told to end."""
        while not self.is_ending:
            ready, _, _ = select.select([listener], [], [], 0.05)
            if ready:
                connection, _ = listener.accept()
                with connection:
                    self._answer(connection)
            self._reap()
            self._power_on_due()

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(5.0)
        try:
            request = json.loads(connection.makefile("rb").readline())
            verb = self._verbs[request["do"]]
            answer: dict[str, Any] = {"ok": verb(request)}
        except (ChaosError, OSError, ValueError, KeyError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        try:
            connection.sendall(json.dumps(answer).encode() + b"\n")
        except OSError as error:
            print(f"an answer was not taken: {error}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is the supervisor's log

    def boot(self, node: NodePlan) -> None:
        """Boots a node that is off; one that is on is left as it is."""
        if node.name in self.pids:
            return
        self.power_on_at.pop(node.name, None)
        self._pull_cables(node)
        cgroups.remove(self.lab.name, node.name)
        self.pids[node.name] = start_node(self.lab, node, self.switch)

    def crash(self, node: NodePlan, *, silent: bool) -> None:
        """Takes a node's power. Silently the cables go first: no peer is told that the connections are gone."""
        pid = self.pids.pop(node.name, None)
        if pid is None:
            return
        if silent:
            for name in ("management", "training"):
                self.cable(node, name, plugged=False)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def cable(self, node: NodePlan, name: str, *, plugged: bool) -> None:
        """Plugs or pulls a cable at the other end: the node sees its carrier go."""
        state = "up" if plugged else "down"
        if name == "management":
            network.ip_batch([f"link set {self.lab.port(node)} {state}"])
        elif name == "training":
            network.ip_batch([f"link set r{node.number} {state}"], inside=self.switch)
        else:
            raise UsageError("move a cable", where=node.name, why=f"there is no network {name!r}", todo="management or training")

    def arm(self, node: NodePlan, after: float) -> None:
        """Boots the node after this many seconds unless armed again or disarmed."""
        self.power_on_at[node.name] = time.monotonic() + after

    def status(self) -> dict[str, Any]:
        """Which nodes have power."""
        nodes = [{**asdict(node), "pid": self.pids.get(node.name), "is_on": node.name in self.pids} for node in self.lab.nodes]
        return {"name": self.lab.name, "controller": self.lab.controller, "pid": os.getpid(), "nodes": nodes}

    def end(self) -> None:
        """Takes everything down."""
        for pid in [*self.pids.values(), self.switch]:
            if pid:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self.pids.clear()
        self.is_ending = True

    def _pull_cables(self, node: NodePlan) -> None:
        """The network namespace of a node that crashed can outlive it for a minute, and its cables with it."""
        network.ip_batch([f"link del {self.lab.port(node)}"], force=True)
        network.ip_batch([f"link del r{node.number}"], inside=self.switch, force=True)

    def _reap(self) -> None:
        """Notices nodes that went by themselves: a reboot boots again, everything else stays off."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            name = next((each for each, known in self.pids.items() if known == pid), "")
            if not name:
                continue
            del self.pids[name]
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == _REBOOT:
                self.boot(self.lab.node(name))

    def _power_on_due(self) -> None:
        for name, moment in list(self.power_on_at.items()):
            if time.monotonic() >= moment:
                del self.power_on_at[name]
                self.boot(self.lab.node(name))


def main(state: str) -> int:
    """The supervisor's process. Says ``up`` or why not on its standard output, which its starter reads."""
    document = json.loads((Path(state) / "plan.json").read_text(encoding="utf-8"))
    lab = LabPlan(
        document["name"], document["management"], document["training"], tuple(NodePlan(**node) for node in document["nodes"])
    )
    kernel.adopt_orphans()
    supervisor = Supervisor(lab)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: setattr(supervisor, "is_ending", True))
    listener = socket.socket(socket.AF_UNIX)
    try:
        supervisor.up()
        listener.bind(f"{state}/supervisor.sock")
        listener.listen(16)
        os.write(1, b"up\n")
        os.dup2(2, 1)
        supervisor.serve(listener)
    except (ChaosError, OSError) as error:
        os.write(1, f"{error}\n".encode())
        return 1
    finally:
        supervisor.end()
        listener.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
