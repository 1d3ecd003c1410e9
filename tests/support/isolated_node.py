"""A node of one process: the agent's own code performs acts in network and mount namespaces of their own, with one peer on a cable.

Run as a program it is the node; :class:`IsolatedNode` starts it and talks to it. Nothing outside the namespaces changes, save cgroups.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from chaos.agent import acts, jobs
from chaos.agent.archive import archive
from chaos.agent.homes import Home
from chaos.model.acts import Act, Answer, Question, Script, encode
from chaos.model.nodes import Accelerator, Bmc, Interface, Node, Severity
from chaos.model.quantities import Duration

INTERFACE, ADDRESS, PEER = "chaos-t0", "10.211.7.1", "10.211.7.2"
GATEWAY = "10.211.7.9"
HERE = Path(__file__).resolve()
NODE = Node(
    "n1",
    "10.0.0.1",
    training=(Interface(INTERFACE, ADDRESS, 0),),
    accelerators=(Accelerator(0, "GPU-n1-0", "0000:17:00.0"), Accelerator(1, "GPU-n1-1", "0000:5e:00.0")),
    bmc=Bmc("test", "bmc"),
    severity_allowed=Severity.DESTRUCTIVE,
    vendor="nvidia-simulated",
)


class IsolatedNode:
    """Performs acts where they cannot harm. Ends with :meth:`close`."""

    def __init__(self, folder: Path) -> None:
        (folder / "agent.pyz").write_bytes(archive())
        words = ["unshare", "--net", "--mount", sys.executable, str(HERE), str(folder)]
        environment = dict(os.environ, PYTHONPATH=str(HERE.parents[2]))
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"

    def perform(self, act: Act) -> Answer:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(encode(act)) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return Answer(**{**found, "took": Duration.of(found["took"])})

    def run(self, script: Script) -> tuple[Answer, ...]:
        """As an agent does it: by the JSON form, to the first failure unless the script keeps going."""
        answers = []
        for act in Script.decode(json.loads(json.dumps(script.encode()))).acts:
            answers.append(self.perform(act))
            if not answers[-1].is_done and not script.keep_going:
                break
        return tuple(answers)

    def ask(self, question: Question):
        return question.read(self.perform(question.asks))

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)


def _lay_cables(peer: int) -> None:
    inside = ("nsenter", "-t", str(peer), "-n")
    for words in (
        ("ip", "link", "set", "lo", "up"),
        ("ip", "link", "add", "name", INTERFACE, "type", "veth", "peer", "name", "peer0", "netns", str(peer)),
        ("ip", "address", "add", f"{ADDRESS}/24", "dev", INTERFACE),
        ("ip", "address", "add", "fd00:211::1/64", "dev", INTERFACE, "nodad"),
        ("ip", "link", "set", INTERFACE, "mtu", "1400", "up"),
        ("ip", "route", "add", "default", "via", GATEWAY),
        ("ip", "route", "add", "10.212.0.0/16", "via", GATEWAY, "metric", "50", "mtu", "1300"),
        ("ip", "-6", "route", "add", "fd00:212::/64", "via", "fd00:211::9"),
        (*inside, "ip", "address", "add", f"{PEER}/24", "dev", "peer0"),
        (*inside, "ip", "link", "set", "peer0", "up"),
    ):
        subprocess.run(words, check=True)


def _own_places(folder: Path) -> None:
    """An own view of interfaces, an own place for payloads, and a file in place of the kernel's log."""
    (folder / "kmsg").touch()
    for words in (
        ("mount", "-t", "tmpfs", "tmpfs", "/run"),
        ("mkdir", "/run/cgroup"),
        ("mount", "--rbind", "/sys/fs/cgroup", "/run/cgroup"),
        ("mount", "-t", "sysfs", "sysfs", "/sys"),
        ("mount", "--rbind", "/run/cgroup", "/sys/fs/cgroup"),
        ("mount", "--bind", str(folder / "kmsg"), "/dev/kmsg"),
    ):
        subprocess.run(words, check=True)


def _serve(folder: Path) -> None:
    home = Home(str(folder / "home"))
    jobs.entry = lambda: [str(folder / "agent.pyz")]
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; read forever"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as peer:
        peer.stdout.readline()
        _own_places(folder)
        _lay_cables(peer.pid)
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(acts.perform(json.loads(line), home)), flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
