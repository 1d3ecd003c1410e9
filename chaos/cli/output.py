"""How the command line speaks: data on stdout, talk on stderr, and one meaning for each exit code."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from chaos.errors import (
    ChaosError,
    CriterionNotMet,
    Inconclusive,
    NoEffect,
    UsageError,
)

_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_WIDE = 160  # columns where nobody sees a terminal: lines for grep, not for eyes


class ExitCode(IntEnum):
    """What the shell learns. The numbers are part of the interface: see the README."""

    ACCEPTED = 0
    CRITERION_FAILED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    SITE = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


_CODES: Sequence[tuple[type[BaseException], ExitCode]] = (
    (KeyboardInterrupt, ExitCode.INTERRUPTED),
    (CriterionNotMet, ExitCode.CRITERION_FAILED),
    (UsageError, ExitCode.USAGE),
    (Inconclusive, ExitCode.INCONCLUSIVE),
    (NoEffect, ExitCode.INCONCLUSIVE),
)


def exit_code_of(error: BaseException) -> ExitCode:
    """The exit code of an error; of many at once, the highest. What nobody foresaw is a fault of the harness."""
    if isinstance(error, BaseExceptionGroup):
        return max(exit_code_of(each) for each in error.exceptions)
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.SITE)


def explain(error: BaseException) -> str:
    """An error in words. Many of one kind are told once, with the places folded: ``gpu[001-064]: log in: ...``."""
    if isinstance(error, BaseExceptionGroup):
        return "\n".join([error.message, *_folded(_leaves(error))])
    if isinstance(error, ChaosError | CriterionNotMet):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}\n  next: this was not foreseen; run again with `chaos --debug ...` and report what it shows"


def _leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    inner = (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each] for each in group.exceptions)
    return [leaf for leaves in inner for leaf in leaves]


def _folded(errors: Iterable[BaseException]) -> list[str]:
    from chaos.model.nodes import fold  # noqa: PLC0415 - ClusterShell is only needed when many nodes failed

    places: dict[tuple[str, str, str], list[str]] = {}
    others = []
    for error in errors:
        if isinstance(error, ChaosError) and error.where:
            places.setdefault((error.attempted, error.why, error.todo), []).append(error.where)
        else:
            others.append(explain(error))
    told = [str(ChaosError(what, where=fold(where), why=why, todo=todo)) for (what, why, todo), where in places.items()]
    return [*told, *dict.fromkeys(others)]


def tell_error(error: BaseException, *, debug: bool = False) -> None:
    """Write an error to stderr; the trace only when asked for."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    mark = f"{_RED}error:{_PLAIN}" if _is_coloured(sys.stderr) else "error:"
    sys.stderr.write(f"{mark} {explain(error)}\n")


def say(text: str) -> None:
    """A line of talk, on stderr."""
    sys.stderr.write(f"{text}\n")


def _is_coloured(stream: Any) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def write_json(kind: str, body: Mapping[str, Any]) -> None:
    """One JSON document on stdout. ``version`` goes up when a field changes its meaning or goes away."""
    document = {"kind": kind, "version": 1, **body}
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout, as wide as the terminal, without lines; honours NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - `chaos --help` shall not wait for it
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    is_terminal = sys.stdout.isatty()
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=None if is_terminal else _WIDE)
    console.print(table)
