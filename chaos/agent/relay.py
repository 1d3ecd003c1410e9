"""The part that lives as long as an SSH session: it starts the daemon when there is none, and shuttles bytes."""

import os
import socket
import subprocess
import sys
import threading
import time

from .files import replace
from .frames import MAGIC
from .homes import Home
from .jobs import entry

_PATIENCE = 10.0


def relay(home: Home) -> int:
    """Connects stdin and stdout with the daemon; ends when either side does."""
    home.made()
    peer = os.environ.get("SSH_CONNECTION", "")
    if peer:
        replace(home.at("ssh_connection"), peer.encode())
    connection = _connect(home) or _start_and_connect(home)
    if connection is None:
        sys.stderr.write("the agent did not start in %s\n" % home.path)
        return 1
    out = sys.stdout.buffer
    out.write(MAGIC)
    out.flush()
    threading.Thread(target=_send, args=(connection,), daemon=True).start()
    while True:
        try:
            data = connection.recv(65536)
        except OSError:
            return 0
        if not data:
            return 0
        out.write(data)
        out.flush()


def _send(connection: socket.socket) -> None:
    while True:
        data = os.read(0, 65536)
        if not data:
            os._exit(0)
        connection.sendall(data)


def _connect(home: Home) -> "socket.socket | None":
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(home.at("socket"))
    except OSError:
        connection.close()
        return None
    return connection


def _start_and_connect(home: Home) -> "socket.socket | None":
    """A daemon that is just leaving still holds the run's lock: then another one is started until one stays."""
    deadline = time.monotonic() + _PATIENCE
    daemon = _start(home)
    while time.monotonic() < deadline:
        connection = _connect(home)
        if connection is not None:
            return connection
        time.sleep(0.01)
        if daemon.poll() is not None:
            time.sleep(0.1)
            daemon = _start(home)
    return None


def _start(home: Home) -> "subprocess.Popen[bytes]":
    home.made()
    log = os.open(home.at("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            [sys.executable, "-S", "-E", *entry(), "daemon", home.path],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/", close_fds=True,
        )  # fmt: skip
    finally:
        os.close(log)
