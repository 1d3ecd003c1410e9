"""What is wrong with an inventory, in words that help: the place, the reason, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from chaos.errors import InventoryError
from chaos.inventory import shape
from chaos.inventory.yaml_text import Document, Path
from chaos.model.spelling import suggestion

_SECRET_KEY = re.compile(
    r"(^|[_.-])(pass(word|wd|phrase|code)?|secret|token|credential|(private|api|access)[_-]?key)s?$", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|[a-z]://[^/@\s:]*:[^/@\s]+@", re.IGNORECASE)
_MODELS: dict[str, tuple[type[BaseModel], ...]] = {
    "defaults": (shape.Settings,),
    "ssh": (shape.SshShape,),
    "bmc": (shape.BmcShape,),
    "domains": (shape.DomainsShape,),
    "management": (shape.InterfaceShape,),
    "training": (shape.InterfaceShape, shape.InterfaceCount),
    "accelerators": (shape.AcceleratorShape, shape.AcceleratorCount),
}


def secrets(document: Document) -> list[InventoryError]:
    """Every place where a secret seems to stand. Its value is never repeated."""
    return [
        document.mistake(
            path,
            "an inventory holds no secrets",
            why="it is copied into run folders and read by many",
            todo="keep keys in files or an SSH agent, and name them under `ssh.identity_files`; BMC logins are looked up at run time",
            at_key=True,
        )
        for path, value in _walk(document.content, ())
        if _is_secret(path, value)
    ]


def _walk(content: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, content
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from _walk(value, (*path, key))


def _is_secret(path: Path, value: Any) -> bool:
    if isinstance(value, str) and _SECRET_VALUE.search(value):
        return True
    if not path or not isinstance(path[-1], str) or (len(path) == 2 and path[0] in {"groups", "overrides"}):
        return False
    return _SECRET_KEY.search(path[-1]) is not None


def misshapen(document: Document) -> list[InventoryError]:
    """Where the content does not have the shape of an inventory: unknown keys, wrong types, missing keys."""
    try:
        shape.Inventory.model_validate(document.content)
    except ValidationError as error:
        return [_told(document, detail) for detail in error.errors(include_url=False) if not _is_secret(_path(detail), None)]
    return []


def _path(detail: Any) -> Path:
    """Where in the document, without the words that pydantic adds for the branch of a union."""
    return tuple(part for part in detail["loc"] if part not in {shape.COUNT, shape.LIST})


def _told(document: Document, detail: Any) -> InventoryError:
    path, kind, given, context = _path(detail), detail["type"], detail.get("input"), detail.get("ctx", {})
    if kind == "extra_forbidden":
        return document.mistake(path, f"unknown key {path[-1]!r}", todo=suggestion(str(path[-1]), _known(path)), at_key=True)
    if kind == "missing":
        return document.mistake(path, f"the key {path[-1]!r} is missing", todo=f"add `{path[-1]}:` here")
    if kind == "string_type" and isinstance(given, int | float):
        bare = str(given).lower() if isinstance(given, bool) else str(given)
        return document.mistake(path, "text is expected", why=f"without quotes YAML reads {bare}", todo='put it in quotes: "..."')
    if kind in {"bool_type", "bool_parsing"}:
        return document.mistake(
            path, "true or false is expected", why=f"found {_short(given)}", todo="YAML knows true and false only"
        )
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        return document.mistake(path, f"{given!r} is not possible here", todo=suggestion(str(given), words))
    return document.mistake(path, str(detail["msg"]).lower(), why="" if given is None else f"found {_short(given)}")


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else repr(value)[:60]


def _known(path: Path) -> list[str]:
    """The keys that could stand where this unknown one does."""
    above = path[:-1]
    if not above:
        return list(shape.Inventory.model_fields)
    if len(above) == 2 and above[0] in {"groups", "overrides"}:
        return list((shape.Group if above[0] == "groups" else shape.Settings).model_fields)
    section = next((part for part in reversed(above) if isinstance(part, str)), "")
    return [name for model in _MODELS.get(section, ()) for name in model.model_fields]


def refuse(mistakes: Sequence[InventoryError]) -> None:
    """Raise when there are mistakes: one as it is, many as a list in one error whose cause holds them all.

    Raises:
        InventoryError: there is at least one.
    """
    distinct = sorted({str(mistake): mistake for mistake in mistakes}.values(), key=lambda each: (each.line, each.column))
    if not distinct:
        return
    first = distinct[0]
    if len(distinct) == 1:
        raise first
    told = "".join(f"\n{mistake}" for mistake in distinct)
    raise InventoryError(f"the inventory has {len(distinct)} mistakes", file=first.file, why=told) from ExceptionGroup(
        "mistakes", list(distinct)
    )
