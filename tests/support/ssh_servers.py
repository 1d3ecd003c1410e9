"""Real sshd processes on loopback addresses, each with keys and configuration of its own in a temporary folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import paramiko

from chaos.model.nodes import Node, Ssh

SSHD = "/usr/sbin/sshd"


class Servers:
    """Starts sshd processes and ends them, with all their children."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen] = {}
        self.ports: dict[str, int] = {}
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        (folder / "home").mkdir()
        self.identity = self.key("id_ed25519")
        shutil.copy(f"{self.identity}.pub", folder / "authorized_keys")
        self.known_hosts = folder / "known_hosts"
        self.known_hosts.touch()

    def key(self, name: str, kind: str = "ed25519") -> Path:
        path = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True)
        return path

    def start(
        self,
        address: str,
        *,
        port: int = 0,
        is_trusted: bool = True,
        extra: str = "",
        boot_id: str = "",
        environment: str = "",
        has_own_run: bool = False,
    ) -> Node:
        port = port or self.ports.get(address) or free_port(address)
        self.ports[address] = port
        host_key = self.folder / f"host_{address.replace(':', '_')}"
        if not host_key.exists():
            self.key(host_key.name)
        if is_trusted:
            self.trust(address, port, host_key)
        config = self.folder / f"{host_key.name}.conf"
        listen = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        config.write_text(
            f"ListenAddress {listen}\nHostKey {host_key}\nAuthorizedKeysFile {self.folder}/authorized_keys\nPidFile none\n"
            f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPrintMotd no\nLogLevel ERROR\nMaxSessions 50\n"
            f"SetEnv HOME={self.folder}/home FAKE_BOOT_ID={boot_id} {environment}\n{extra}\n"
        )
        command = [SSHD, "-D", "-e", "-f", str(config)]
        if has_own_run:
            command = [
                "unshare",
                "--mount",
                "sh",
                "-c",
                'mount -t tmpfs own /run && mkdir /run/sshd && exec "$@"',
                "sh",
                *command,
            ]
        self.running[address] = subprocess.Popen(command, start_new_session=True)
        wait_for_port(address, port)
        return self.node(address)

    def node(self, address: str, name: str = "") -> Node:
        ssh = Ssh(
            port=self.ports[address], identity_files=(str(self.identity),), known_hosts=str(self.known_hosts), config="/dev/null"
        )
        return Node(name or f"n{address.rsplit('.', 1)[-1]}", address, ssh=ssh)

    def trust(self, address: str, port: int, host_key: Path) -> None:
        kind, key, *_ = Path(f"{host_key}.pub").read_text().split()
        name = address if port == 22 else f"[{address}]:{port}"
        with self.known_hosts.open("a") as stream:
            stream.write(f"{name} {kind} {key}\n")

    def sessions(self, address: str) -> list[int]:
        """The processes that sshd forked for its sessions."""
        return _children(self.running[address].pid)

    def cut(self, address: str) -> None:
        """End the sessions of a server, which goes on listening."""
        for pid in self.sessions(address):
            end(pid)

    def stop(self, address: str) -> None:
        server = self.running.pop(address)
        sessions = _children(server.pid)
        server.kill()
        server.wait()
        for pid in sessions:
            end(pid)

    def close(self) -> None:
        for address in list(self.running):
            self.stop(address)


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def free_port(address: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def wait_for_port(address: str, port: int) -> None:
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    message = f"no sshd on {address} port {port}"
    raise RuntimeError(message)


def fingerprint(path: Path) -> str:
    return paramiko.PKey.from_path(path).fingerprint
