# ruff: noqa: PLC0415 - what is imported depends on where the nodes come from
"""Asks N nodes one question with this project's transport and with five other ways, side by side in one run.

Each way is a process of its own that keeps its connections; rounds alternate between the ways, so that a disturbance hits all.
``python benchmarks/fanout.py --help`` lists the options, ``benchmarks/README.md`` says what was seen.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests/support")]

WAYS = ("chaos", "asyncssh", "parallel-ssh", "fabric", "clush-master", "clush")
NO_WARM = ("clush",)


class Way:
    """One way to ask, in its own process."""

    def __init__(self, name: str, spec: Path) -> None:
        self.name = name
        self.seen: dict[str, list[dict[str, Any]]] = {}
        arguments = [sys.executable, str(HERE / "ways.py"), name, str(spec)]
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, what: str) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended during {what}")
        self.seen.setdefault(what, []).append(json.loads(line))

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def median(self, what: str, key: str) -> float | None:
        values = [seen[key] for seen in self.seen.get(what, ())]
        return statistics.median(values) if values else None


@contextmanager
def sshd_nodes(count: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Real sshd processes on loopback addresses, each with a /run of its own."""
    from ssh_servers import Servers

    servers = Servers(folder)
    try:
        for number in range(1, count + 1):
            servers.start(f"127.88.{number // 250}.{number % 250 + 1}", port=2222, has_own_run=True)
        hosts = list(servers.running)
        yield {"hosts": hosts, "port": 2222, "identity": str(servers.identity), "known_hosts": str(servers.known_hosts)}
    finally:
        servers.close()


@contextmanager
def fake_nodes(count: int, folder: Path) -> Iterator[dict[str, Any]]:
    """One process that plays many SSH servers, each with an agent."""
    arguments = [sys.executable, str(HERE / "fake_nodes.py"), str(count), str(folder)]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait()


def existing_nodes(ssh_config: str, names: str) -> dict[str, Any]:
    """Nodes that run already, such as a virtual cluster's."""
    from ClusterShell.NodeSet import NodeSet

    from chaos.model.nodes import Node, Ssh
    from chaos.transport.settings import resolve

    found = [resolve(Node(name, "", ssh=Ssh(config=ssh_config))) for name in NodeSet(names)]
    first = found[0]
    return {
        "hosts": [login.host for login in found],
        "port": first.port,
        "identity": first.identity_files[0],
        "known_hosts": first.known_hosts[0],
    }


def write_spec(folder: Path, nodes: dict[str, Any]) -> Path:
    """The nodes, and OpenSSH configurations without and with a shared connection."""
    common = (
        f"Host *\n User root\n Port {nodes['port']}\n IdentityFile {nodes['identity']}\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {nodes['known_hosts']}\n LogLevel ERROR\n"
    )
    (folder / "plain.conf").write_text(common)
    (folder / "master.conf").write_text(f"{common} ControlMaster auto\n ControlPath {folder}/m-%h\n ControlPersist 300\n")
    spec = folder / "spec.json"
    spec.write_text(json.dumps({**nodes, "folder": str(folder), "command": "cat /proc/sys/kernel/random/boot_id"}))
    return spec


def measure(ways: list[Way], *, rounds: int, cold_rounds: int) -> None:
    for _ in range(cold_rounds):
        for way in ways:
            way.do("cold")
    for way in ways:
        if way.name not in NO_WARM:
            way.do("open")
            way.do("warm")
            way.seen.pop("warm")  # the first question is not warm yet
    for _ in range(rounds):
        for way in ways:
            if way.name not in NO_WARM:
                way.do("warm")
    for way in ways:
        if way.name == "chaos":
            way.do("idle")


def report(ways: list[Way], count: int) -> list[str]:
    best = min((m for way in ways if way.name != "chaos" and (m := way.median("warm", "wall")) is not None), default=None)
    lines = [
        f"{count} nodes; {os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}, Python {platform.python_version()}",
        "",
        "| way | cold wall (s) | cold CPU (s) | warm wall (s) | warm CPU (s) | answers |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for way in ways:
        cells = [_cell(way.median(what, key)) for what in ("cold", "warm") for key in ("wall", "cpu")]
        answers = min(seen["answers"] for what in ("cold", "warm") for seen in way.seen.get(what, ()))
        lines.append(f"| {way.name} | {' | '.join(cells)} | {answers} |")
    ours = next((way for way in ways if way.name == "chaos"), None)
    if ours:
        warm, opened, idle = ours.median("warm", "wall"), ours.seen["open"][0], ours.seen["idle"][0]
        lines += ["", f"chaos: agents started everywhere in {opened['wall']:.2f} s, {opened['cpu']:.2f} s CPU of the controller."]
        lines.append(
            f"chaos, idle: {idle['cpu_percent']:.2f} % of a core, {idle['rss_mb']:.0f} MB RSS "
            f"({idle['rss_mb_before']:.0f} MB before the first login), {idle['threads']} threads."
        )
        if best and warm:
            lines.append(f"chaos, warm: {best / warm:.1f} times as fast as the fastest other way.")
    return lines


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=128, help="how many sshd processes (default) or fake nodes")
    parser.add_argument("--fake", action="store_true", help="fake nodes in one process instead of sshd processes")
    parser.add_argument("--ssh-config", help="ask nodes that run already, found in this file, ...")
    parser.add_argument("--names", help="... with these names, such as node[1-128]")
    parser.add_argument("--ways", default=",".join(WAYS), help="which ways, by comma")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cold-rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="keep every single time in this file")
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fan-")))
        if given.ssh_config:
            nodes = existing_nodes(given.ssh_config, given.names)
        else:
            nodes = stack.enter_context((fake_nodes if given.fake else sshd_nodes)(given.nodes, folder))
        spec = write_spec(folder, nodes)
        ways = [Way(name, spec) for name in given.ways.split(",")]
        for way in ways:
            stack.callback(way.close)
        measure(ways, rounds=given.rounds, cold_rounds=given.cold_rounds)
        print("\n".join(report(ways, len(nodes["hosts"]))))
        if given.json:
            given.json.write_text(json.dumps({way.name: way.seen for way in ways}, indent=1))


if __name__ == "__main__":
    main()
