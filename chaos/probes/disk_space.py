"""Is there room to write?"""

from __future__ import annotations

from typing import ClassVar

from chaos.model.acts import Answer, Question, Run
from chaos.model.nodes import Node
from chaos.model.quantities import seconds
from chaos.model.unknown import Unknown
from chaos.protocols.ability import Platform
from chaos.protocols.probe import Finding, Health, Probe

LEAST_FREE_PERCENT = 5
"""ext4 keeps this share for root by default: below it, an ordinary user's writes fail."""

Use = dict[str, int]


class DiskSpace(Probe):
    """At least 5 % of the root and of the shared storage is free: ext4 refuses ordinary users the rest by default."""

    kind: ClassVar[str] = "disk_space"
    title: ClassVar[str] = "There is room to write"

    def question(self, node: Node, platform: Platform) -> Question[Use | Unknown]:
        del platform
        places = ("/", node.shared_storage) if node.shared_storage else ("/",)
        return Question(Run(("df", "-P", "-k", "--", *places), timeout=10 * seconds), _read)

    def judge(self, node: Node, answer: Use | Unknown) -> Finding:
        health, sentence = _judge(answer)
        return Finding(self.kind, node.name, health, sentence)


def _read(answer: Answer) -> Use | Unknown:
    """Per cent in use by mount point. The last columns are fixed by POSIX; the name of a device may hold blanks."""
    if not answer.is_done or answer.timed_out:
        return Unknown("df did not answer: a mount may hang", answer.tail)
    rows = [line.split() for line in answer.stdout.splitlines()[1:]]
    try:
        return {row[-1]: int(row[-2].removesuffix("%")) for row in rows}
    except (IndexError, ValueError):
        return Unknown("the output of df cannot be read", answer.tail)


def _judge(answer: Use | Unknown) -> tuple[Health, str]:
    if isinstance(answer, Unknown):
        return Health.UNKNOWN, answer.why
    if not answer:
        return Health.UNKNOWN, "df listed nothing"
    full = [f"{place} ({100 - used} % free)" for place, used in answer.items() if 100 - used < LEAST_FREE_PERCENT]
    if full:
        return Health.UNHEALTHY, f"nearly full: {', '.join(full)}"
    return Health.HEALTHY, ", ".join(f"{place}: {100 - used} % free" for place, used in answer.items())
