"""Brings the agent to a node and starts it: two round trips the first time, one when it is there already."""

from __future__ import annotations

import hashlib
import shlex
from functools import cache
from typing import Any

import paramiko

from chaos.agent.archive import archive
from chaos.errors import CommandFailed, Unreachable

_INSTALL_WITHIN = 20.0


@cache
def bundle() -> tuple[bytes, str]:
    """The agent's archive and its hash."""
    content = archive()
    return content, hashlib.sha256(content).hexdigest()[:16]


def home_for(run_id: str) -> str:
    """Where the agent of a run lives on every node."""
    return f"/run/chaos/{run_id}"


def _script(home: str, digest: str, size: int) -> str:
    """Starts the agent, reading it from stdin first when this very version is not there. All words are ours, none a node's."""
    archive_path = shlex.quote(f"{home}/agent-{digest}.pyz")
    place = shlex.quote(home)
    return (
        f"umask 077; mkdir -p {place} || exit 90; "
        f"if [ -s {archive_path} ]; then echo HAVE; else echo SEND; head -c {size} > {archive_path}.$$ "
        f"&& mv {archive_path}.$$ {archive_path} || exit 91; fi; "
        f"exec python3 -S -E {archive_path} relay --home {place}"
    )


def start(connection: Any, run_id: str, *, where: str) -> paramiko.Channel:
    """A channel at whose other end the agent speaks.

    Raises:
        Unreachable: no channel could be opened.
        CommandFailed: the agent could not be put there.
    """
    content, digest = bundle()
    transport = connection.client.get_transport()
    if transport is None or not transport.is_active():
        raise Unreachable("open a channel", where=where, why="the connection is closed", todo="run the command again")
    channel: paramiko.Channel = transport.open_session(timeout=_INSTALL_WITHIN)
    channel.settimeout(_INSTALL_WITHIN)
    channel.exec_command(f"sh -c {shlex.quote(_script(home_for(run_id), digest, len(content)))}")
    try:
        if _first_word(channel) == "SEND":
            channel.sendall(content)
    except (TimeoutError, EOFError) as error:
        raise CommandFailed(
            "put the agent on the node",
            where=where,
            tail=f"{error}",
            todo="check that the node has python3, sh and a writable /run/chaos",
        ) from error
    channel.settimeout(None)
    return channel


def _first_word(channel: paramiko.Channel) -> str:
    """HAVE or SEND; whatever login shells print before is passed over. Read byte by byte, so that no frame is swallowed."""
    line = b""
    while True:
        byte = channel.recv(1)
        if not byte:
            words = channel.recv_stderr(2000).decode(errors="replace") if channel.recv_stderr_ready() else ""
            raise EOFError(words.strip() or "the login ended before the agent came")
        if byte != b"\n":
            line += byte
            continue
        if line in {b"HAVE", b"SEND"}:
            return line.decode()
        line = b""
