"""An inventory file becomes a :class:`~chaos.model.nodes.Cluster`. Nobody is contacted and nothing is written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from chaos.errors import InventoryError
from chaos.inventory import notation
from chaos.inventory.contract import broken_promises
from chaos.inventory.mistakes import misshapen, refuse, secrets
from chaos.inventory.nodes import build
from chaos.inventory.settings import NodeWords, Section, merged
from chaos.inventory.yaml_text import Document, read
from chaos.model.nodes import Cluster, Node, Role
from chaos.model.spelling import suggestion


def load(path: Path | str) -> Cluster:
    """The cluster in this file; ``digest`` is the SHA-256 of its bytes.

    Raises:
        InventoryError: the file cannot be read or is wrong; all mistakes that can be found at once are told at once.
    """
    file = str(path)
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InventoryError("read the inventory", file=file, why=why, todo="name a file, such as inventory/lab.yaml") from error
    return parse(content, file)


def parse(content: bytes, file: str) -> Cluster:
    """The cluster in these bytes of a file.

    Raises:
        InventoryError: see :func:`load`.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InventoryError("read the inventory", file=file, why=f"not UTF-8 at byte {error.start}") from error
    document = read(text, file)
    if not isinstance(document.content, dict):
        raise document.mistake((), "an inventory is a mapping", todo="start with `name:` and `groups:`")
    refuse([*secrets(document), *misshapen(document)])
    return _cluster(document, hashlib.sha256(content).hexdigest())


def _cluster(document: Document, digest: str) -> Cluster:
    mistakes: list[InventoryError] = []
    groups = dict(_groups(document, mistakes))
    overrides = dict(_overrides(document, groups, mistakes))
    refuse(mistakes)
    words = list(_words(document, groups, overrides))
    nodes = tuple(build(each) for each in words)
    refuse([mistake for each in words for mistake in each.mistakes])
    refuse(broken_promises(document, words, nodes))
    return Cluster(
        name=document.content["name"],
        nodes=nodes,
        contracted_slots=document.content.get("contracted_slots") or _compute(nodes),
        launcher=document.content.get("launcher", "elastic"),
        description=document.content.get("description", ""),
        is_virtual=document.content.get("is_virtual", False),
        digest=digest,
    )


def _compute(nodes: tuple[Node, ...]) -> int:
    return sum(node.role is Role.COMPUTE for node in nodes)


def _groups(document: Document, mistakes: list[InventoryError]) -> Iterator[tuple[str, tuple[str, ...]]]:
    seen: dict[str, str] = {}
    for group, content in document.content["groups"].items():
        path = ("groups", group, "hosts")
        try:
            names = notation.hosts(content["hosts"])
            for name in names:
                notation.address(name)
        except ValueError as error:
            mistakes.append(document.mistake(path, str(error)))
            continue
        for name in names:
            if name in seen:
                mistakes.append(
                    document.mistake(path, f"{name} is already in group {seen[name]!r}", todo="a node is in one group")
                )
            seen[name] = group
        yield group, names


def _overrides(
    document: Document, groups: dict[str, tuple[str, ...]], mistakes: list[InventoryError]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    known = {name for names in groups.values() for name in names}
    for key in document.content.get("overrides", {}):
        try:
            names = notation.hosts(key)
        except ValueError as error:
            mistakes.append(document.mistake(("overrides", key), str(error), at_key=True))
            continue
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None and len(groups) == len(document.content["groups"]):
            what = f"no group has a host {unknown!r}"
            mistakes.append(document.mistake(("overrides", key), what, todo=suggestion(unknown, known), at_key=True))
        yield key, names


def _words(document: Document, groups: dict[str, tuple[str, ...]], overrides: dict[str, tuple[str, ...]]) -> Iterator[NodeWords]:
    everybody = tuple(name for names in groups.values() for name in names)
    content = document.content
    defaults = Section(content.get("defaults", {}), ("defaults",), everybody)
    special: dict[str, list[Section]] = {}
    for key, names in overrides.items():
        section = Section(content["overrides"][key], ("overrides", key), names)
        for name in names:
            special.setdefault(name, []).append(section)
    for group, names in groups.items():
        own = Section(content["groups"][group], ("groups", group), names)
        shared = merged([defaults, own])
        for index, name in enumerate(names):
            said = merged([defaults, own, *special[name]]) if name in special else shared
            yield NodeWords(document, name, said, index)
