"""Which tests there are: one for each matching node, criterion or drill. Files are read; nobody is contacted.

Nothing passes by absence: where the inventory, the profile or the record has nothing that matches, collection fails.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from chaos.errors import PlanError, UsageError
from chaos.model.injections import DrillBegun
from chaos.model.nodes import Node, Role, Severity
from chaos.protocols import ability as abilities
from chaos.protocols.ability import Ability
from chaos.pytest_plugin.asked import Asked, asked_of


def generate(metafunc: pytest.Metafunc) -> None:
    """Parametrizes ``node``, ``criterion`` and ``incident`` where a test asks for them."""
    asked = asked_of(metafunc.config)
    marker = metafunc.definition.get_closest_marker("each_node")
    if marker is not None:
        metafunc.parametrize("node", [_node(metafunc, asked, node) for node in _nodes(asked, marker)])
    if _asks_us(metafunc, "criterion"):
        metafunc.parametrize(
            "criterion", _named("criterion", criteria(asked), f"the profile {asked.profile_name}"), indirect=True
        )
    if _asks_us(metafunc, "incident"):
        metafunc.parametrize("incident", _named("drill", drills(asked), f"the run {asked.run}"), indirect=True)


def _asks_us(metafunc: pytest.Metafunc, name: str) -> bool:
    """Whether a test takes this argument and does not bring the values itself: the plugin is loaded for everybody's tests."""
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize") if mark.args]
    named = {word.strip() for names in own for word in (names.split(",") if isinstance(names, str) else names)}
    return name in metafunc.fixturenames and name not in named


def _nodes(asked: Asked, marker: pytest.Mark) -> tuple[Node, ...]:
    role, vendor = marker.kwargs.get("role"), marker.kwargs.get("vendor")
    nodes = asked.cluster.where(role=Role(role) if role else None, vendor=vendor)
    if not nodes:
        wanted = ", ".join(f"{name} {value}" for name, value in (("role", role), ("vendor", vendor)) if value)
        raise PlanError(
            "choose the nodes",
            where=str(asked.inventory),
            why=f"no node has {wanted}",
            todo="name another inventory or deselect it",
        )
    return nodes


def _node(metafunc: pytest.Metafunc, asked: Asked, node: Node) -> object:
    why = [*_lacking(metafunc, asked, node), *_forbidden(metafunc, node)]
    marks = [pytest.mark.skip(reason=f"not applicable: {node.name} {'; '.join(why)}")] if why else []
    return pytest.param(node, id=node.name, marks=marks)


def _lacking(metafunc: pytest.Metafunc, asked: Asked, node: Node) -> Iterable[str]:
    """What the platform lacks of what the test needs, each by its name."""
    for marker in metafunc.definition.iter_markers("needs"):
        wanted = tuple(_ability(name) for name in marker.args)
        yield from (f"does not offer {name}" for name in (asked.catalog.platform(node).lacks(wanted) if wanted else ()))


def _ability(name: str | type[Ability]) -> type[Ability]:
    found = getattr(abilities, name, None) if isinstance(name, str) else name
    if not (isinstance(found, type) and issubclass(found, Ability)):
        raise UsageError(f"read the marker needs({name!r})", why="there is no such ability", todo="see chaos.protocols.ability")
    return found


def _forbidden(metafunc: pytest.Metafunc, node: Node) -> Iterable[str]:
    marker = metafunc.definition.get_closest_marker("severity")
    if marker is not None and Severity[str(marker.args[0]).upper()] > node.severity_allowed:
        yield f"allows {node.severity_allowed} acts, this one is {marker.args[0]}"


def check_number_of_nodes(asked: Asked, items: Iterable[pytest.Item]) -> None:
    """An inventory that is too small for a test is an error.

    Raises:
        PlanError: it has fewer compute nodes than ``needs(nodes=...)`` says.
    """
    for item in items:
        for marker in item.iter_markers("needs"):
            wanted, there = marker.kwargs.get("nodes", 1), 0
            if wanted > 1 and (there := len(asked.cluster.where(role=Role.COMPUTE))) < wanted:
                raise PlanError(f"collect {item.name}", why=f"it needs {wanted} compute nodes, the inventory has {there}")


def criteria(asked: Asked) -> tuple[str, ...]:
    """The names of the profile's criteria, in order; a kind that stands there twice is numbered."""
    kinds = [requirement.criterion.kind for requirement in asked.profile.requirements]
    counted = [(kind, kinds[: place + 1].count(kind)) for place, kind in enumerate(kinds)]
    return tuple(kind if number == 1 else f"{kind}-{number}" for kind, number in counted)


def drills(asked: Asked) -> tuple[str, ...]:
    """The drills that the run planned or began, in order."""
    history = asked.history
    planned = _planned(history.opening.plan if history.opening else {})
    begun = [body.drill for _, body in history.of(DrillBegun)]
    return tuple(dict.fromkeys([*planned, *begun]))


def _planned(plan: object) -> list[str]:
    steps = plan.get("steps", ()) if isinstance(plan, dict) else ()
    return [str(strike["id"]) for step in steps for strike in step.get("strikes", ())]


def _named(what: str, names: tuple[str, ...], where: str) -> tuple[str, ...]:
    if not names:
        raise PlanError(
            f"collect one test for each {what}", where=where, why="it has none", todo="name another with --profile or --run"
        )
    return names
