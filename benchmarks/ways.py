# ruff: noqa: PLC0415 - each way imports its own library only
"""The ways that ``fanout.py`` compares: each reads commands (cold, open, warm, idle) and answers with times."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from chaos.errors import ChaosError

AT_ONCE = 64


class Chaos:
    """Cold is a login and one plain command; warm is a question to the agents."""

    def __init__(self, spec: dict[str, Any]) -> None:
        from chaos.model.acts import Consult, Question
        from chaos.model.nodes import Node, Ssh
        from chaos.transport.fleet import SshFleet

        ssh = Ssh(
            user="root",
            port=spec["port"],
            identity_files=(spec["identity"],),
            known_hosts=spec["known_hosts"],
            config=f"{spec['folder']}/plain.conf",
        )
        self._nodes = [Node(host, host, ssh=ssh) for host in spec["hosts"]]
        self._command = spec["command"]
        self._question = Question(Consult("boot"), lambda answer: json.loads(answer.stdout)["boot_id"])
        self._fleet = SshFleet(f"bench-{os.getpid()}")

    def cold(self) -> int:
        from chaos.transport.login import Logins
        from chaos.transport.settings import resolve

        logins = Logins()

        def run(node: Any) -> bool:
            connection = logins.open(resolve(node), where=node.name)
            with connection:
                return len(connection.run(self._command, hide=True, in_stream=False).stdout) > 30

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return sum(pool.map(run, self._nodes))

    def open(self) -> int:
        return sum(not isinstance(shell, Exception) for shell in self._fleet.reach(self._nodes).values())

    def warm(self) -> int:
        answers = self._fleet.ask([node.name for node in self._nodes], self._question)
        return sum(isinstance(answer, str) and len(answer) > 30 for answer in answers.values())

    def close(self) -> None:
        for node in self._nodes:
            try:
                self._fleet.shell(node.name).leave()
            except ChaosError as error:
                print(error, file=sys.stderr)
        self._fleet.close()


class Asyncssh:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._loop = asyncio.new_event_loop()
        self._connections: list[Any] = []

    async def _connect(self) -> list[Any]:
        import asyncssh

        limit = asyncio.Semaphore(AT_ONCE)
        key = asyncssh.read_private_key(self._spec["identity"])

        async def one(host: str) -> Any:
            async with limit:
                return await asyncssh.connect(
                    host,
                    self._spec["port"],
                    username="root",
                    client_keys=[key],
                    known_hosts=self._spec["known_hosts"],
                    config=None,
                    agent_path=None,
                )

        return await asyncio.gather(*map(one, self._spec["hosts"]))

    async def _ask(self, connections: list[Any]) -> int:
        results = await asyncio.gather(*(connection.run(self._spec["command"]) for connection in connections))
        return sum(result.exit_status == 0 and len(result.stdout) > 30 for result in results)

    async def _cold(self) -> int:
        connections = await self._connect()
        answers = await self._ask(connections)
        for connection in connections:
            connection.close()
        await asyncio.gather(*(connection.wait_closed() for connection in connections))
        return answers

    def cold(self) -> int:
        return self._loop.run_until_complete(self._cold())

    def open(self) -> int:
        self._connections = self._loop.run_until_complete(self._connect())
        return len(self._connections)

    def warm(self) -> int:
        return self._loop.run_until_complete(self._ask(self._connections))

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


class ParallelSsh:
    def __init__(self, spec: dict[str, Any]) -> None:
        from pssh.clients import ParallelSSHClient

        self._command = spec["command"]
        # A pool below the number of hosts opens every connection anew for each batch; this is its fastest setting.
        self._make = lambda: ParallelSSHClient(
            spec["hosts"], user="root", port=spec["port"], pkey=spec["identity"], pool_size=len(spec["hosts"]), num_retries=2
        )
        self._client = self._make()

    def _ask(self, client: Any) -> int:
        outputs = client.run_command(self._command, stop_on_errors=False)
        client.join(outputs)
        return sum(output.exit_code == 0 and len("".join(output.stdout)) > 30 for output in outputs if output.exception is None)

    def cold(self) -> int:
        client = self._make()
        answers = self._ask(client)
        del client
        return answers

    def open(self) -> int:
        return self._ask(self._client)

    def warm(self) -> int:
        return self._ask(self._client)

    def close(self) -> None:
        del self._client


class Fabric:
    """ThreadingGroup; it accepts any host key, which the others do not."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import fabric

        config = fabric.Config(overrides={"load_ssh_configs": False})
        self._command = spec["command"]
        self._make = lambda: fabric.ThreadingGroup(
            *spec["hosts"], user="root", port=spec["port"], config=config, connect_kwargs={"key_filename": spec["identity"]}
        )
        self._group = self._make()

    def _ask(self, group: Any) -> int:
        import fabric

        try:
            results = group.run(self._command, hide=True, in_stream=False, warn=True)
        except fabric.exceptions.GroupException as error:
            results = error.result
        return sum(not isinstance(result, Exception) and len(result.stdout) > 30 for result in results.values())

    def cold(self) -> int:
        group = self._make()
        answers = self._ask(group)
        group.close()
        return answers

    def open(self) -> int:
        return self._ask(self._group)

    def warm(self) -> int:
        return self._ask(self._group)

    def close(self) -> None:
        self._group.close()


class Clush:
    config = "plain.conf"

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        program = str(Path(sys.executable).parent / "clush")
        options = ["-f", str(AT_ONCE), "-q", "-o", f"-F {spec['folder']}/{self.config}", "-w", ",".join(spec["hosts"])]
        self._argv = [sys.executable, program, *options, spec["command"]]

    def _ask(self) -> int:
        # ClusterShell closes every descriptor up to the limit in each child: a high limit would be held against it.
        limits = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))  # noqa: E731
        done = subprocess.run(self._argv, capture_output=True, text=True, check=False, preexec_fn=limits)
        return sum(len(line) > 40 for line in done.stdout.splitlines())

    def cold(self) -> int:
        return self._ask()

    open = warm = cold

    def close(self) -> None:
        return


class ClushMaster(Clush):
    """With OpenSSH's ControlMaster: warm, a node costs an ssh process but no login."""

    config = "master.conf"

    def cold(self) -> int:
        answers = self._ask()
        self.close()
        return answers

    def open(self) -> int:
        return self._ask()

    def warm(self) -> int:
        return self._ask()

    def close(self) -> None:
        for host in self._spec["hosts"]:
            arguments = ["ssh", "-F", f"{self._spec['folder']}/{self.config}", "-O", "exit", host]
            subprocess.run(arguments, stderr=subprocess.DEVNULL, check=False)


WAYS: dict[str, Any] = {
    "chaos": Chaos,
    "asyncssh": Asyncssh,
    "parallel-ssh": ParallelSsh,
    "fabric": Fabric,
    "clush": Clush,
    "clush-master": ClushMaster,
}


def cpu_seconds() -> float:
    """Of this process and of the children it waited for; ControlMaster's background processes are not among them."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def rss_megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    name, spec_path = sys.argv[1:]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    way = WAYS[name](json.loads(Path(spec_path).read_text()))
    before = rss_megabytes()
    for line in sys.stdin:
        what = line.strip()
        cpu, wall = cpu_seconds(), time.perf_counter()
        if what == "idle":
            time.sleep(10)
            percent = (cpu_seconds() - cpu) / (time.perf_counter() - wall) * 100
            seen = {
                "cpu_percent": percent,
                "rss_mb": rss_megabytes(),
                "rss_mb_before": before,
                "threads": threading.active_count(),
            }
        else:
            answers = getattr(way, what)()
            seen = {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu, "answers": answers}
        print(json.dumps(seen), flush=True)
    way.close()


if __name__ == "__main__":
    main()
