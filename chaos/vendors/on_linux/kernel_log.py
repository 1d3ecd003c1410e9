"""Lines in the kernel log, by ``/dev/kmsg``."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.model.acts import Answer, Question, Run, Script, WriteFile
from chaos.model.unknown import Unknown
from chaos.protocols.ability import KernelLog

_DEVICE = "/dev/kmsg"
_FOUND, _ABSENT = 0, 1


@dataclass(frozen=True, slots=True)
class KernelMessages(KernelLog):
    """``path`` is where the node's monitoring reads. A line is always written to the device, from where it gets there by itself."""

    path: str = _DEVICE

    def write(self, text: str, priority: int = 3) -> Script:
        return Script((WriteFile(_DEVICE, f"<{priority}>{text}\n", append=True),))

    def contains(self, text: str) -> Question[bool | Unknown]:
        """The device cannot be read without waiting, so its ring buffer is asked for instead."""
        if self.path == _DEVICE:
            return Question(Run(("dmesg",)), lambda answer: _read_ring(answer, text))
        return Question(Run(("grep", "-F", "-c", "--", text, self.path), accepts=(_FOUND, _ABSENT)), _read_count)


def _read_ring(answer: Answer, text: str) -> bool | Unknown:
    if not answer.is_done or answer.timed_out or not answer.stdout.strip():
        return Unknown("the kernel's ring buffer cannot be read", answer.tail)
    return text in answer.stdout


def _read_count(answer: Answer) -> bool | Unknown:
    if not answer.is_done or answer.timed_out or not answer.stdout.strip().isdigit():
        return Unknown("the kernel-log file cannot be read", answer.tail)
    return int(answer.stdout) > 0
