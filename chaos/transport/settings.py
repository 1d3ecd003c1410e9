"""What the site's OpenSSH configuration says about a node. The inventory's own words come first."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path

import paramiko

from chaos.errors import UsageError
from chaos.model.nodes import Node


@dataclass(frozen=True, slots=True)
class Login:
    """One login, resolved: where to, as whom, with which keys, and over which bastion (itself a login)."""

    host: str
    port: int
    user: str
    identity_files: tuple[str, ...]
    known_hosts: tuple[str, ...]
    via: Login | None = None

    @property
    def server(self) -> str:
        """The sshd that has to do the handshake, for limiting how many it is asked at once."""
        return f"{self.host}:{self.port}"


def resolve(node: Node) -> Login:
    """The login of a node.

    Raises:
        UsageError: the configuration file cannot be read.
    """
    config = _config(node.ssh.config)
    words = config.lookup(node.address or node.name) if config else {}
    if config and node.name in config.get_hostnames():
        words = config.lookup(node.name)
    jump = node.ssh.proxy_jump or words.get("proxyjump", "")
    return Login(
        host=node.address or words.get("hostname", node.name),
        port=node.ssh.port if node.ssh.port != 22 else int(words.get("port", "22")),
        user=node.ssh.user or words.get("user") or getpass.getuser(),
        identity_files=tuple(node.ssh.identity_files) or tuple(words.get("identityfile", ())),
        known_hosts=_known_hosts(node.ssh.known_hosts, words),
        via=_bastion(jump, config, node),
    )


def _config(path: str) -> paramiko.SSHConfig | None:
    chosen = Path(path).expanduser() if path else Path("~/.ssh/config").expanduser()
    if not path and not chosen.exists():
        return None
    try:
        return paramiko.SSHConfig.from_path(str(chosen))
    except (OSError, paramiko.ConfigParseError) as error:
        raise UsageError(
            "read the SSH configuration", where=str(chosen), why=str(error), todo="check ssh.config in the inventory"
        ) from error


def _known_hosts(given: str, words: paramiko.SSHConfigDict | dict[str, str]) -> tuple[str, ...]:
    named = given or str(words.get("userknownhostsfile", "")) or "~/.ssh/known_hosts"
    return tuple(str(Path(each).expanduser()) for each in named.split())


def _bastion(jump: str, config: paramiko.SSHConfig | None, node: Node) -> Login | None:
    """The last hop of a ProxyJump. ``none`` is a word, not a host."""
    hop = jump.rpartition(",")[2].strip()
    if not hop or hop == "none":
        return None
    user, _, place = hop.rpartition("@")
    host, _, port = place.partition(":") if place.count(":") == 1 else (place, "", "")
    words = config.lookup(host) if config else {}
    return Login(
        host=str(words.get("hostname", host)),
        port=int(port or words.get("port", "22")),
        user=user or str(words.get("user", "")) or node.ssh.user or getpass.getuser(),
        identity_files=tuple(words.get("identityfile", ())) or tuple(node.ssh.identity_files),
        known_hosts=_known_hosts(node.ssh.known_hosts, words),
        via=_bastion(jump.rpartition(",")[0], config, node),
    )
