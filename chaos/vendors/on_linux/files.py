"""Files, damaged with a backup beside them and put back."""

from __future__ import annotations

from chaos.model.acts import Answer, Consult, CopyFile, Question, Script, TruncateFile, undo_of
from chaos.model.unknown import Unknown
from chaos.protocols.ability import FileControl, Snapshot
from chaos.vendors.answers import document, program, shaped


class LinuxFiles(FileControl):
    """Any file system that the node can write to."""

    def state(self, path: str) -> Question[Snapshot | Unknown]:
        return Question(Consult("file", {"path": path}), _read_state)

    def truncate(self, path: str, size: int, backup: str) -> Script:
        return Script((CopyFile(path, backup), TruncateFile(path, size)))

    def restore(self, path: str, backup: str, damaged_size: int) -> Script:
        return undo_of(program("restore_backup", path, backup, str(damaged_size)))


def _read_state(answer: Answer) -> Snapshot | Unknown:
    found = document(answer, {"exists": bool})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return {"exists": False, "size": 0, "sha256": ""}
    found = shaped(found, {"size": int, "sha256": str})
    if isinstance(found, Unknown):
        return found
    return {"exists": True, "size": found["size"], "sha256": found["sha256"]}
