"""Lines of the kernel log: their prefix, and what the text says. What is not understood is kept as UNKNOWN, never dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from chaos.model.unknown import Unknown

CHAOS_MARK = "[chaos "
"""Faults of ours mark the lines that they write."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its prefix. ``since_boot`` in seconds; ``moment`` where the prefix names one; None where it names neither.

    ``facility`` 0 is the kernel itself; anything else was written by user space into the kernel's log. None: not told.
    """

    text: str
    since_boot: float | None = None
    moment: datetime | None = None
    priority: int | None = None
    facility: int | None = None
    sequence: int | None = None

    @property
    def is_injected(self) -> bool:
        """Whether one of our faults wrote it."""
        return CHAOS_MARK in self.text


@dataclass(frozen=True, slots=True)
class Xid:
    """NVIDIA's error code of one device. ``where`` is the bus address as printed, without ``PCI:``."""

    code: int
    where: str
    message: str
    pid: int | None = None
    process: str = ""


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """The kernel killed a process: for its cgroup's limit, or because the whole node had no memory left."""

    pid: int
    process: str
    is_cgroup: bool


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The driver of a network card says that a port went up or down."""

    device: str
    is_up: bool


Meaning = Xid | OutOfMemory | LinkChange | Unknown

_KMSG = re.compile(r"(\d+),(\d+),(\d+),[^;]*;(.*)", re.DOTALL)
_ANGLED = re.compile(r"<(\d+)>(?:\[\s*(\d+\.\d+)\]\s?)?(.*)", re.DOTALL)
_SECONDS = re.compile(r"\[\s*(\d+\.\d+)\]\s?(?:\[\s*[TC]\d+\]\s?)?(.*)", re.DOTALL)
_CTIME = re.compile(r"\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]\s?(.*)", re.DOTALL)
_DECODED = re.compile(r"\w+\s*:\w+\s*:\s+(\S+)\s(.*)", re.DOTALL)
_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s+(?:\S+\s+kernel:\s+)?(.*)", re.DOTALL)


def read_line(raw: str) -> Line:
    """The line without its prefix. An unknown prefix stays part of the text."""
    raw = raw.rstrip("\n")
    for pattern, read in _PREFIXES:
        found = pattern.fullmatch(raw)
        line = read(found) if found else None
        if line is not None:
            return line
    return Line(raw)


def _kmsg(found: re.Match[str]) -> Line:
    return Line(found[4], int(found[3]) / 1e6, priority=int(found[1]) & 7, facility=int(found[1]) >> 3, sequence=int(found[2]))


def _angled(found: re.Match[str]) -> Line:
    since = float(found[2]) if found[2] else None
    return Line(found[3], since, priority=int(found[1]) & 7, facility=int(found[1]) >> 3)


def _seconds(found: re.Match[str]) -> Line:
    return Line(found[2], float(found[1]))


def _ctime(found: re.Match[str]) -> Line | None:
    try:
        # dmesg -T prints local time without naming the zone, so the moment stays without one.
        return Line(found[2], moment=datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y"))  # noqa: DTZ007
    except ValueError:
        return None


def _iso(found: re.Match[str]) -> Line | None:
    try:
        return Line(found[2], moment=datetime.fromisoformat(found[1].replace(",", ".")))
    except ValueError:
        return None


def _decoded(found: re.Match[str]) -> Line | None:
    inner = _ISO.fullmatch(f"{found[1]} {found[2]}")
    return _iso(inner) if inner else None


_PREFIXES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Line | None]], ...] = (
    (_KMSG, _kmsg),
    (_ANGLED, _angled),
    (_SECONDS, _seconds),
    (_CTIME, _ctime),
    (_ISO, _iso),
    (_DECODED, _decoded),
)

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})([^)]*)\): (\d+)(?:, (.*))?", re.DOTALL)
_PID = re.compile(r"pid='?(\d+|<[^>]*>)'?, (?:name=(.*?), )?(.*)", re.DOTALL)
_OOM = re.compile(r"(Memory cgroup o|O)ut of memory: Killed process (\d+) \(([^)]*)\)")
_LINK = re.compile(r"(?:mlx5_core|bnxt_en|ice|i40e) \S+ (\S+?): (?:Port: \d+ )?Link (down|DOWN|up|ACTIVE)\b")


def meaning(line: Line) -> Meaning:
    """What the text says; UNKNOWN with the text kept when it is not one of the lines that are understood."""
    text = line.text
    if found := _XID.search(text):
        return _xid(found)
    if "Xid" in text and "NVRM" in text:
        return Unknown("an Xid line in a form that is not understood", text)
    if oom := _OOM.search(text):
        return OutOfMemory(int(oom[2]), oom[3], oom[1] != "O")
    if link := _LINK.search(text):
        return LinkChange(link[1], link[2] in {"up", "ACTIVE"})
    return Unknown("not one of the lines that are understood", text)


def _xid(found: re.Match[str]) -> Xid:
    rest = (found[4] or "").strip()
    process = _PID.fullmatch(rest)
    if process is None:
        return Xid(int(found[3]), found[1].lower(), rest)
    pid = int(process[1]) if process[1].isdigit() else None
    return Xid(int(found[3]), found[1].lower(), process[3], pid, process[2] or "")
