"""Processes by pid and start time, so that a pid that was used again is never struck."""

from __future__ import annotations

from chaos.model.acts import Answer, Consult, Question, Script, SignalProcess
from chaos.model.unknown import Unknown
from chaos.protocols.ability import ProcessControl
from chaos.vendors.answers import document, program

GONE = "gone"
_LEAST_SAMPLES = 20


class LinuxProcesses(ProcessControl):
    """Signals, and states out of ``/proc``."""

    def signal(self, pid: int, started: int, signal: str, *, must_exist: bool = False) -> Script:
        return Script((SignalProcess(pid, started, signal, gone_is_done=not must_exist),))

    def state(self, pid: int, started: int) -> Question[str | Unknown]:
        return Question(Consult("process", {"pid": pid, "started": started}), _read_state)

    def stopped_share(self, pid: int, started: int) -> Question[float | Unknown]:
        return Question(program("stopped_share", str(pid), str(started)), _read_share)


def _read_state(answer: Answer) -> str | Unknown:
    found = document(answer, {"exists": bool})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return GONE
    state = found.get("state")
    return state if isinstance(state, str) and state else Unknown("the state of the process cannot be read", answer.tail)


def _read_share(answer: Answer) -> float | Unknown:
    found = document(answer, {"exists": bool, "samples": int, "stopped": int})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return 0.0
    if found["samples"] < _LEAST_SAMPLES:
        return Unknown(f"only {found['samples']} samples", answer.tail)
    return float(found["stopped"] / found["samples"])
