"""Logging in, with the defaults of fabric and paramiko mended that are wrong for a cluster.

Host keys are verified (fabric accepts any by default). A dead peer is noticed (TCP_USER_TIMEOUT: keepalives alone were silent for over a
minute). Small writes leave at once (TCP_NODELAY). One connection serves all nodes behind a bastion. The login itself is the probe: a bare
connect to port 22 gets the controller banned by newer sshds. Few handshakes at once per sshd, as its MaxStartups wants.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import socket
import threading
from collections import defaultdict
from typing import Any

import fabric
import paramiko
import tenacity
from invoke.exceptions import Exit

from chaos.errors import HostKeyMismatch, Unreachable
from chaos.transport.settings import Login

CONNECT_WITHIN = 5.0
"""Seconds for the TCP connection: a node that is off is not waited for."""
BANNER_WITHIN = 30.0
"""Seconds for banner and authentication: a loaded sshd is waited for."""
USER_TIMEOUT_MS = 10_000
"""Milliseconds of unacknowledged data after which the kernel gives a connection up."""
HANDSHAKES_PER_SERVER = 8
"""A stock sshd drops connections beyond ten that are not logged in yet (MaxStartups 10:30:100)."""

logging.getLogger("paramiko").addHandler(logging.NullHandler())
logging.getLogger("paramiko").propagate = False  # what it says is in our errors already

_TRANSIENT = ("banner", "eof", "reset by peer", "no existing session")


class Logins:
    """Opens connections; keeps one per bastion."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handshakes: defaultdict[str, threading.BoundedSemaphore] = defaultdict(
            lambda: threading.BoundedSemaphore(HANDSHAKES_PER_SERVER)
        )
        self._bastions: dict[Login, Any] = {}
        self._opening: defaultdict[Login, threading.Lock] = defaultdict(threading.Lock)

    def open(self, login: Login, *, where: str) -> Any:
        """An open fabric connection.

        Raises:
            HostKeyMismatch: the host key is not the recorded one.
            Unreachable: no login within the deadlines.
        """
        gateway = self._bastion(login.via) if login.via else None
        with self._lock:
            place = self._handshakes[(login.via or login).server if login.via else login.server]
        with place:
            return self._try(login, gateway, where)

    def _bastion(self, login: Login) -> Any:
        with self._lock:
            lock = self._opening[login]
        with lock:
            held = self._bastions.get(login)
            if held is None or not held.is_connected:
                held = self.open(login, where=f"bastion {login.host}")
                self._bastions[login] = held
            return held

    def _try(self, login: Login, gateway: Any, where: str) -> Any:
        """Transient refusals of a loaded sshd are tried again with jitter; everything else is told at once."""
        attempts = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_random_exponential(multiplier=0.3, max=3),
            retry=tenacity.retry_if_exception(_is_transient),
            reraise=True,
        )
        try:
            return attempts(_open, login, gateway)
        except paramiko.BadHostKeyException as error:
            raise HostKeyMismatch(
                f"log in to {login.host}",
                where=where,
                why=f"the host key is {error.key.get_name()} {error.key.fingerprint}, another one is recorded",
                todo=f"if the node was reinstalled, replace its line in {login.known_hosts[0]}; else somebody is in between",
            ) from error
        except (paramiko.SSHException, OSError, EOFError, Exit) as error:
            raise _refusal(login, where, error) from error

    def close(self) -> None:
        """Closes the bastions."""
        for held in self._bastions.values():
            held.close()
        self._bastions.clear()


def _refusal(login: Login, where: str, error: BaseException) -> Unreachable | HostKeyMismatch:
    words = str(error) or type(error).__name__
    if "not found in known_hosts" in words:
        return HostKeyMismatch(
            f"log in to {login.host}",
            where=where,
            why="its host key is not recorded",
            todo=f"look at it once with `ssh-keyscan -p {login.port} {login.host}` and add it to {login.known_hosts[0]}",
        )
    todo = "check that the node is on and that the key may log in"
    if "banner" in words.lower():
        todo = "raise MaxStartups in the node's sshd_config, or check PerSourcePenalties"
    return Unreachable(f"log in to {login.user}@{login.host}:{login.port}", where=where, why=words, todo=todo)


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, paramiko.AuthenticationException | paramiko.BadHostKeyException | TimeoutError):
        return False
    return isinstance(error, paramiko.SSHException | EOFError | ConnectionResetError) and any(
        word in (str(error).lower() or "eof") for word in _TRANSIENT
    )


def _open(login: Login, gateway: Any) -> Any:
    connection = fabric.Connection(
        login.host,
        user=login.user,
        port=login.port,
        gateway=gateway,
        connect_timeout=CONNECT_WITHIN,
        config=fabric.Config(lazy=True, overrides={"load_ssh_configs": False}),
        connect_kwargs={
            "key_filename": list(login.identity_files) or None,
            "look_for_keys": not login.identity_files,
            "banner_timeout": BANNER_WITHIN,
            "auth_timeout": BANNER_WITHIN,
        },
    )
    _verify_host_keys(connection.client, login)
    try:
        connection.open()
    except BaseException:
        connection.close()
        raise
    _mend_socket(connection.client.get_transport())
    return connection


def _verify_host_keys(client: paramiko.SSHClient, login: Login) -> None:
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    for path in login.known_hosts:
        with contextlib.suppress(FileNotFoundError):
            client.load_host_keys(path)


def _mend_socket(transport: paramiko.Transport | None) -> None:
    """Sets what only a real socket has; a channel through a bastion rides on the bastion's."""
    if transport is None or not isinstance(transport.sock, socket.socket):
        return
    transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
    transport.set_keepalive(3)


def raise_open_files(wanted: int) -> str:
    """Raises the limit of open files; words for the user when it cannot be raised as far as the node count needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return ""
    reachable = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (reachable, hard))
    return "" if reachable >= wanted else f"only {reachable} files may be open, {wanted} are needed: raise `ulimit -Hn`"
