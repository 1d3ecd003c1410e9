"""Bringing a lab up and taking it down. Up and down leave the host as it was, also after a kill in the middle."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaos.errors import CommandFailed, SiteError, Unreachable, Unsupported
from chaos.lab import cleaning, simulator
from chaos.lab.files import write_ssh_files
from chaos.lab.plan import LabPlan, NodePlan, plan_lab
from chaos.lab.probe import probe

Tell = Callable[[str], None]
_SSH_WITHIN = 30.0


def up(lab: LabPlan, *, tell: Tell = lambda _text: None) -> None:
    """Brings the lab up and waits until every node lets one log in.

    Raises:
        Unsupported: this machine cannot hold a lab.
        SiteError: it did not come up; what was begun is taken down again.
    """
    if is_up(lab):
        tell(f"lab {lab.name} is up already")
        return
    ground = probe()
    if ground.tier == "none":
        raise Unsupported("bring up a lab", ability="a lab", why=ground.why, todo="run as root; `apt-get install` what is named")
    down(lab)
    begun = time.monotonic()
    tell(f"lab {lab.name}: {len(lab.nodes)} nodes on {lab.management} and {lab.training}")
    for ability in ground.missing_abilities:
        tell(f"  this kernel has no {ability}")
    try:
        simulator.build(simulator.cache())
        _write_state(lab)
        _start_supervisor(lab)
        for node in lab.nodes:
            wait_for_ssh(node)
    except BaseException:
        down(lab)
        raise
    tell(f"lab {lab.name} is up after {time.monotonic() - begun:.1f} s")


def down(lab: LabPlan, *, tell: Tell = lambda _text: None) -> None:
    """Takes the lab down, or what is left of it.

    Raises:
        SiteError: something could not be taken away; it is named.
    """
    was_there = Path(lab.state).exists() or bool(cleaning.left_links(lab))
    seen = _document(lab)
    if seen and not cleaning.end_process(int(seen["pid"]), int(seen["started"])):
        raise SiteError(
            "end the lab's supervisor", where=f"process {seen['pid']}", why="it does not die", todo="look at it with ps"
        )
    left = cleaning.clean(lab)
    if left:
        raise SiteError("take the lab down", where=lab.name, why=f"left: {', '.join(left)}", todo="remove by hand")
    tell(f"lab {lab.name} is down" if was_there else f"lab {lab.name} was not up")


def is_up(lab: LabPlan) -> bool:
    """Whether the supervisor of this lab runs."""
    seen = _document(lab)
    return bool(seen) and cleaning.start_time(int(seen["pid"])) == int(seen["started"])


def known(name: str) -> LabPlan:
    """The plan of a lab that is up, or the default plan of that name."""
    path = Path(plan_lab(name=name).state) / "plan.json"
    if not path.exists():
        return plan_lab(name=name)
    document = json.loads(path.read_text(encoding="utf-8"))
    nodes = tuple(NodePlan(**node) for node in document["nodes"])
    return LabPlan(document["name"], document["management"], document["training"], nodes)


def ask(socket_path: str, request: dict[str, Any], *, timeout: float = 20.0) -> Any:
    """One request to a supervisor.

    Raises:
        Unreachable: it does not answer.
        CommandFailed: it refused.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(socket_path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(connection.makefile("rb").readline() or b"null")
    except (OSError, ValueError) as error:
        raise Unreachable("ask the lab", where=socket_path, why=str(error), todo="bring it up with `chaos lab up`") from error
    if not isinstance(answer, dict) or "error" in answer:
        raise CommandFailed(f"lab: {request.get('do')}", where=str(request.get("node", "")), tail=str(answer and answer["error"]))
    return answer["ok"]


def wait_for_ssh(node: NodePlan) -> None:
    """Waits until the node's sshd greets. A lab is ours: nobody bans us for looking.

    Raises:
        Unreachable: it did not in time.
    """
    deadline = time.monotonic() + _SSH_WITHIN
    while True:
        try:
            with socket.create_connection((node.management, 22), timeout=1.0) as connection:
                if connection.recv(4) == b"SSH-":
                    return
        except OSError as error:
            if time.monotonic() > deadline:
                raise Unreachable(
                    "wait for sshd", where=node.name, why=str(error), todo="see supervisor.log in the lab's folder"
                ) from error
        time.sleep(0.02)


def _write_state(lab: LabPlan) -> None:
    place = Path(lab.state)
    for folder in (place, place / "root", place / "shared", place / "keys"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (place / "plan.json").write_text(json.dumps(asdict(lab)), encoding="utf-8")
    write_ssh_files(lab)


def _start_supervisor(lab: LabPlan) -> None:
    """Starts it in a session of its own, records who it is before anything else, and waits for its first word."""
    with (Path(lab.state) / "supervisor.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "chaos.lab.supervisor", lab.state],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
    document = {"pid": child.pid, "started": cleaning.start_time(child.pid)}
    (Path(lab.state) / "state.json").write_text(json.dumps(document), encoding="utf-8")
    if child.stdout is None:
        raise SiteError("start the lab's supervisor", where=lab.name)
    with child.stdout as out:
        word = out.readline().decode(errors="replace").strip()
    if word != "up":
        child.wait(10)
        tail = (Path(lab.state) / "supervisor.log").read_text(errors="replace")[-800:]
        raise CommandFailed("bring up the lab", where=lab.name, exit_status=child.returncode, tail=f"{word} {tail}")
    child.returncode = 0  # it lives on by itself: nobody waits for it here


def _document(lab: LabPlan) -> dict[str, Any]:
    try:
        found = json.loads((Path(lab.state) / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
