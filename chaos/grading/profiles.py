"""Profiles: which criteria are graded, with which thresholds, and which of them sign.

A profile is YAML, read strictly: a duplicate or unknown key, a number without its unit, and a threshold that cannot fail, cannot pass
or has no source are refused with file, line and key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from chaos.catalog import built, parameter_types
from chaos.criteria.thresholds import POSSIBLE, flaw
from chaos.errors import ChaosError, InventoryError, PlanError, ProfileError
from chaos.grading.quantities import in_unit
from chaos.inventory.yaml_text import Document, read
from chaos.model.spelling import suggestion
from chaos.model.verdicts import Threshold
from chaos.protocols.criterion import Criterion

Criteria = Mapping[str, type[Criterion]]
FOLDER = Path("suites") / "profiles"

_KEYS = ("profile", "title", "criteria", "does_not_show")
_OWN = ("criterion", "signs", "does_not_show")
_THRESHOLD_KEYS = ("limit", "source", "sane")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One criterion of a profile. ``signs``: whether the outcome of the whole depends on it."""

    criterion: Criterion
    signs: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """What is graded. ``digest`` is the SHA-256 of the file; ``does_not_show`` are sentences for the certificate's small print."""

    name: str
    title: str
    requirements: tuple[Requirement, ...]
    does_not_show: tuple[str, ...]
    digest: str


def load_profile(name: str | Path, criteria: Criteria) -> Profile:
    """The profile of this name (below ``suites/profiles``, of the working folder or of the project) or at this path.

    Raises:
        ProfileError: there is none, or it cannot decide anything as it is written.
    """
    path = find_profile(name)
    return read_profile(path.read_text(encoding="utf-8"), str(path), criteria)


def find_profile(name: str | Path) -> Path:
    """Where the profile lies.

    Raises:
        ProfileError: it is in none of the places.
    """
    project = Path(__file__).parents[2] / FOLDER
    places = [Path(name), FOLDER / f"{name}.yaml", project / f"{name}.yaml"]
    found = next((place for place in places if place.is_file()), None)
    if found is not None:
        return found
    known = sorted({file.stem for folder in (FOLDER, project) for file in folder.glob("*.yaml")})
    raise ProfileError(f"find the profile {str(name)!r}", why="there is no such file", todo=f"profiles here: {', '.join(known)}")


def read_profile(text: str, file: str, criteria: Criteria) -> Profile:
    """The profile in this text.

    Raises:
        ProfileError: see :func:`load_profile`.
    """
    try:
        document = read(text, file)
    except InventoryError as error:
        raise ProfileError(error.attempted, where=error.where, why=error.why, todo=error.todo) from error
    return _Reader(document, criteria).profile(hashlib.sha256(text.encode()).hexdigest())


class _Reader:
    """Reads one document; every refusal names its place."""

    def __init__(self, document: Document, criteria: Criteria) -> None:
        self._document = document
        self._criteria = criteria

    def profile(self, digest: str) -> Profile:
        content = self._mapping((), self._document.content, _KEYS)
        name, title = self._text(("profile",), content.get("profile")), self._text(("title",), content.get("title"))
        entries = content.get("criteria")
        if not isinstance(entries, list) or not entries:
            self._refuse(("criteria",), "a profile without criteria decides nothing", todo="list at least one under `criteria:`")
        requirements, small_print = [], self._sentences(("does_not_show",), content.get("does_not_show", []))
        for index, entry in enumerate(entries):
            requirement, sentences = self._requirement(("criteria", index), entry)
            requirements.append(requirement)
            small_print += sentences
        if not any(requirement.signs for requirement in requirements):
            self._refuse(("criteria",), "no criterion signs", todo="write `signs: true` for those that decide")
        return Profile(name, title, tuple(requirements), tuple(dict.fromkeys(small_print)), digest)

    def _requirement(self, path: tuple[str | int, ...], entry: object) -> tuple[Requirement, list[str]]:
        if not isinstance(entry, dict) or not isinstance(entry.get("criterion"), str):
            self._refuse(path, "an entry names its criterion", todo="write `- criterion: recovery`")
        name = entry["criterion"]
        if name not in self._criteria:
            self._refuse((*path, "criterion"), f"unknown criterion {name!r}", todo=suggestion(name, self._criteria))
        kind = self._criteria[name]
        self._mapping(path, entry, (*_OWN, *parameter_types(kind)))
        signs = entry.get("signs")
        if not isinstance(signs, bool):
            self._refuse((*path, "signs"), "say whether it signs", todo="write `signs: true` or `signs: false`")
        criterion = self._build(path, kind, {key: value for key, value in entry.items() if key not in _OWN})
        self._can_decide(path, criterion, signs=signs)
        return Requirement(criterion, signs), self._sentences((*path, "does_not_show"), entry.get("does_not_show", []))

    def _build(self, path: tuple[str | int, ...], kind: type[Criterion], given: Mapping[str, Any]) -> Criterion:
        limits = {field.name: field for field in _fields(kind) if POSSIBLE in field.metadata}
        values = {
            key: self._threshold((*path, key), limits[key], value) if key in limits else value for key, value in given.items()
        }
        try:
            return built(kind, values)
        except PlanError as error:
            self._refuse(path, error.attempted, why=error.why, todo=error.todo)

    def _threshold(self, path: tuple[str | int, ...], field: Any, value: object) -> Threshold:
        if not isinstance(value, dict):
            self._refuse(
                path, "a threshold says its limit, source and sane range", todo="{limit: .., source: .., sane: [.., ..]}"
            )
        self._mapping(path, value, _THRESHOLD_KEYS)
        sane = value.get("sane")
        if not isinstance(sane, list) or len(sane) != 2:
            self._refuse((*path, "sane"), "a sane range has two ends", todo="write `sane: [lowest, highest]`")
        unit = str(field.metadata["unit"])
        limit = self._number((*path, "limit"), value.get("limit"), unit)
        low, high = (self._number((*path, "sane", index), end, unit) for index, end in enumerate(sane))
        source = self._text((*path, "source"), value.get("source"))
        threshold = Threshold(limit, unit, str(field.metadata["relation"]), source, low, high)
        why = flaw(threshold, field.metadata[POSSIBLE])
        if why:
            self._refuse(path, "a threshold that decides nothing is refused", why=why)
        return threshold

    def _can_decide(self, path: tuple[str | int, ...], criterion: Criterion, *, signs: bool) -> None:
        empty = [f.name for f in _fields(type(criterion)) if POSSIBLE in f.metadata and getattr(criterion, f.name) is None]
        if signs and empty:
            self._refuse(path, f"{criterion.kind} signs without a threshold", todo=f"give it `{empty[0]}:`")

    def _number(self, path: tuple[str | int, ...], value: object, unit: str) -> float:
        try:
            return in_unit(value, unit)
        except ValueError as error:
            self._refuse(path, "read a quantity", why=str(error))

    def _mapping(self, path: tuple[str | int, ...], value: object, keys: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(path, "a mapping is expected", todo=f"its keys are: {', '.join(keys)}")
        for key in value:
            if key not in keys:
                self._refuse((*path, key), f"unknown key {key!r}", todo=suggestion(key, keys), at_key=True)
        return value

    def _text(self, path: tuple[str | int, ...], value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            self._refuse(path, f"{path[-1]} must be a text that says something")
        return value.strip()

    def _sentences(self, path: tuple[str | int, ...], value: object) -> list[str]:
        if not isinstance(value, list):
            self._refuse(path, "a list of sentences is expected")
        return [self._text((*path, index), sentence) for index, sentence in enumerate(value)]

    def _refuse(self, path: tuple[str | int, ...], what: str, *, why: str = "", todo: str = "", at_key: bool = False) -> NoReturn:
        place: ChaosError = self._document.mistake(path, what, at_key=at_key)
        raise ProfileError(what, where=place.where, why=why, todo=todo)


def _fields(kind: type[Criterion]) -> tuple[Any, ...]:
    return fields(kind)  # type: ignore[arg-type]


def thresholds_of(criterion: Criterion) -> tuple[tuple[str, Threshold], ...]:
    """The thresholds of a criterion by the names of their fields."""
    values = ((field.name, getattr(criterion, field.name, MISSING)) for field in _fields(type(criterion)))
    return tuple((name, value) for name, value in values if isinstance(value, Threshold))
