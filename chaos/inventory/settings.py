"""What is said of one node, by defaults, its group and overrides: the nearest word wins, key by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from chaos.errors import InventoryError
from chaos.inventory import notation
from chaos.inventory.yaml_text import Document, Path

T = TypeVar("T")

_MERGED_BY_KEY = frozenset({"ssh", "bmc", "domains", "properties", "management"})

_names = lru_cache(maxsize=1024)(notation.hosts)


@dataclass(frozen=True, slots=True)
class Said:
    """One value, where it stands, and the hosts for which it was said (a range must be as long as these)."""

    value: Any
    origin: Path
    among: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the file that speaks of some hosts."""

    content: Mapping[str, Any]
    origin: Path
    among: tuple[str, ...]

    def words(self) -> Iterator[tuple[tuple[str, ...], Said]]:
        """Each value by key; in mappings that merge, by key and key below."""
        for key, value in self.content.items():
            if key in _MERGED_BY_KEY and isinstance(value, dict):
                for below, each in value.items():
                    yield (key, below), Said(each, (*self.origin, key, below), self.among)
            else:
                yield (key,), Said(value, (*self.origin, key), self.among)


def merged(sections: Sequence[Section]) -> dict[tuple[str, ...], Said]:
    """The words of all sections, later ones over earlier ones; null takes back what was said before."""
    result: dict[tuple[str, ...], Said] = {}
    for section in sections:
        for key, said in section.words():
            if said.value is None:
                result = {other: value for other, value in result.items() if other[: len(key)] != key}
            else:
                result[key] = said
    return result


@dataclass(slots=True)
class NodeWords:
    """Reads what is said of one node, filling placeholders and ranges. Mistakes are collected, not raised."""

    document: Document
    name: str
    said: Mapping[tuple[str, ...], Said]
    index: int
    mistakes: list[InventoryError] = field(default_factory=list)

    def value(self, *key: str, default: Any = None) -> Any:
        """The value as it stands."""
        return self.said[key].value if key in self.said else default

    def keys_below(self, key: str) -> tuple[str, ...]:
        """What is said below this key."""
        return tuple(name[1] for name in self.said if name[0] == key and len(name) > 1)

    def text(self, *key: str, default: str = "", per_node: bool = False, read: Callable[[str], str] = str) -> str:
        """Text under a key; ``per_node``: it may be a range over the hosts it was said for."""
        if key not in self.said:
            return default
        said = self.said[key]
        return self.attempt(said.origin, lambda: read(self.filled(said.value, said, {}, per_node=per_node)), default)

    def texts(self, *key: str, read: Callable[[str], str]) -> tuple[str, ...]:
        """The texts of a list under a key."""
        if key not in self.said:
            return ()
        said = self.said[key]
        return self.attempt(said.origin, lambda: tuple(read(self.filled(text, said, {})) for text in said.value), ())

    def filled(self, text: str, said: Said, words: Mapping[str, str | int], *, per_node: bool = False) -> str:
        """Text with its range resolved and its placeholders filled.

        Raises:
            ValueError: the range is not as long as the hosts, or a placeholder is wrong.
        """
        if per_node and notation.is_range(text):
            text = self._own_part(text, said.among)
        number = notation.number_in(self.name)
        own: dict[str, str | int] = {"name": self.name, "index": self.index, **({} if number is None else {"number": number})}
        return notation.fill(text, {**own, **words})

    def _own_part(self, text: str, among: tuple[str, ...]) -> str:
        values = _names(text)
        if len(values) != len(among):
            raise ValueError(f"{text!r} has {len(values)} values for {len(among)} hosts")
        return values[among.index(self.name)]

    def attempt(self, origin: Path, make: Callable[[], T], default: T) -> T:
        """What ``make`` returns; a ValueError becomes a mistake at this place."""
        try:
            return make()
        except ValueError as error:
            self.mistakes.append(self.document.mistake(origin, str(error)))
            return default
