"""YAML as people mean it, with the place of every value.

PyYAML reads YAML 1.1, editors read 1.2: ``on`` would be true, ``5:00`` would be 300, ``012`` would be 10. Here only ``true``, ``false``,
``null`` and plain decimal numbers are more than text. Tags, anchors and aliases are refused: an inventory repeats itself through
``defaults`` and ``groups``, where an editor can follow it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from chaos.errors import InventoryError

Path = tuple[str | int, ...]

_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"null|Null|NULL|~|"), lambda _text: None),
    (re.compile(r"true|True|TRUE"), lambda _text: True),
    (re.compile(r"false|False|FALSE"), lambda _text: False),
    (re.compile(r"[-+]?(0|[1-9][0-9]{0,17})", re.ASCII), int),
    (re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]{1,3})?", re.ASCII), float),
)


class _Loader(yaml.SafeLoader):
    """A loader that resolves nothing by itself: every plain scalar stays text until :func:`_plain` reads it."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own table, emptied

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            why = "an inventory is read by people and editors: repeat through defaults and groups instead"
            raise yaml.composer.ComposerError(None, None, f"anchors and aliases are refused; {why}", event.start_mark)
        return super().compose_node(parent, index)


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content as plain values; ``keys`` and ``values`` map a path to line and column, both from 1."""

    file: str
    content: Any
    keys: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    values: Mapping[Path, tuple[int, int]] = field(default_factory=dict)

    def mistake(self, path: Path, what: str, *, why: str = "", todo: str = "", at_key: bool = False) -> InventoryError:
        """An error that points at the value of this path, or at its key; where the path does not exist, at what would hold it."""
        line, column = self._place(path, at_key=at_key)
        key = ".".join(str(part) for part in path)
        return InventoryError(what, file=self.file, line=line, column=column, key=key, why=why, todo=todo)

    def _place(self, path: Path, *, at_key: bool) -> tuple[int, int]:
        if at_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))


def read(text: str, file: str) -> Document:
    """The document in this text.

    Raises:
        InventoryError: the text is not YAML, or holds more than one document, duplicate keys, tags, anchors or aliases.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise _broken(file, error) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InventoryError("read YAML", file=file, why=str(error) or "nested too deeply") from error
    if root is None:
        raise InventoryError(
            "read an inventory", file=file, line=1, why="the file is empty", todo="start with `name:` and `groups:`"
        )
    places = _Places(file)
    content = places.plain(root, ())
    return Document(file, content, places.keys, places.values)


def _broken(file: str, error: yaml.MarkedYAMLError) -> InventoryError:
    mark: Any = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return InventoryError("read YAML", file=file, line=line, column=column, why=error.problem or error.context or "not YAML")


class _Places:
    """Walks composed nodes once, making plain values and remembering where each came from."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.keys: dict[Path, tuple[int, int]] = {}
        self.values: dict[Path, tuple[int, int]] = {}

    def plain(self, node: yaml.Node, path: Path) -> Any:
        self.values[path] = _start(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            self._standard_tag(node, path, ("tag:yaml.org,2002:seq",))
            return [self.plain(item, (*path, index)) for index, item in enumerate(node.value)]
        self._standard_tag(node, path, ("tag:yaml.org,2002:str",))
        is_quoted = getattr(node, "style", None) is not None
        return node.value if is_quoted else _plain(node.value)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        self._standard_tag(node, path, ("tag:yaml.org,2002:map",))
        content: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key in content:
                first = self.keys[*path, key][0]
                raise self._error(key_node, (*path, key), "the key stands twice", f"first on line {first}", "keep one of them")
            self.keys[*path, key] = _start(key_node)
            content[key] = self.plain(value_node, (*path, key))
        return content

    def _key(self, node: yaml.Node, path: Path) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, path, "a key must be a word", "a list or mapping stands where a key is expected")
        self._standard_tag(node, path, ("tag:yaml.org,2002:str",))
        return str(node.value)

    def _standard_tag(self, node: yaml.Node, path: Path, accepted: Iterable[str]) -> None:
        if node.tag not in accepted:
            raise self._error(node, path, f"the tag {node.tag!r} is refused", "an inventory holds plain values only")

    def _error(self, node: yaml.Node, path: Path, what: str, why: str, todo: str = "") -> InventoryError:
        line, column = _start(node)
        key = ".".join(str(part) for part in path)
        return InventoryError(what, file=self.file, line=line, column=column, key=key, why=why, todo=todo)


def _start(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _plain(text: str) -> Any:
    for pattern, read_as in _SCALARS:
        if pattern.fullmatch(text):
            return read_as(text)
    return text
