"""Memory limits by cgroups, version 1 or 2 as the node's own answer says."""

from __future__ import annotations

from chaos.model.acts import Answer, Consult, Question, Run, Script, WriteFile, undo_of
from chaos.model.unknown import Unknown
from chaos.protocols.ability import MemoryLimit, Snapshot
from chaos.vendors.answers import document, program, shaped

_LIMIT_FILES = {1: "memory.limit_in_bytes", 2: "memory.max"}


class Cgroups(MemoryLimit):
    """Puts a process into a cgroup of its own and lets the limit be reached there.

    Memory that the process has already stays charged where it was, and it may go on for long without asking for more. So a small process
    of ours in the same cgroup uses the limit up, and the kernel kills the largest one there.
    """

    def state(self, pid: int, started: int) -> Question[Snapshot | Unknown]:
        return Question(Consult("cgroup", {"pid": pid}), lambda answer: _read_state(answer, pid, started))

    def limit(self, name: str, before: Snapshot, limit_bytes: int) -> Script:
        place, process = _place(name, before), (str(before["pid"]), str(before["started"]))
        return Script(
            (
                Run(("mkdir", "-p", "--", place)),
                WriteFile(f"{place}/{_LIMIT_FILES[before['version']]}", str(limit_bytes)),
                program("cgroup_members", "squeeze", place, *process, str(limit_bytes)),
            )
        )

    def remove(self, name: str, before: Snapshot) -> Script:
        return undo_of(program("cgroup_members", "leave", _place(name, before), before["path"], before["root"]))

    def kills(self, name: str, before: Snapshot) -> Question[Snapshot | Unknown]:
        return Question(Consult("cgroup", {"path": _place(name, before)}), _read_kills)


def _place(name: str, before: Snapshot) -> str:
    """Below the process's own cgroup in version 1, whose limits stay over it; below the root in version 2.

    Version 2 lets no cgroup that holds processes have children with controllers, and a running job is in such a one.
    """
    parent = before["path"] if before["version"] == 1 else before["root"]
    return f"{parent}/chaos-{name}"


def _read_state(answer: Answer, pid: int, started: int) -> Snapshot | Unknown:
    found = document(answer, {"exists": bool})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return Unknown("the process is in no memory cgroup", answer.tail)
    found = shaped(found, {"version": int, "root": str, "path": str})
    if isinstance(found, Unknown):
        return found
    if found["version"] not in _LIMIT_FILES:
        return Unknown("a cgroup version that is not known", answer.tail)
    return {**{key: found[key] for key in ("version", "root", "path")}, "pid": pid, "started": started}


def _read_kills(answer: Answer) -> Snapshot | Unknown:
    found = document(answer, {"exists": bool})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return {"exists": False, "kills": 0, "members": []}
    kills = found.get("oom_kills")
    if not isinstance(kills, int) or isinstance(kills, bool):
        return Unknown("the kernel counts no kills here", answer.tail)
    members = found.get("processes")
    if not isinstance(members, list):
        return Unknown("the members of the cgroup cannot be read", answer.tail)
    return {"exists": True, "kills": kills, "members": members}
