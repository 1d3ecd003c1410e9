"""Network interfaces by ``ip``, read by the agent from sysfs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from chaos.model.acts import Answer, Consult, Question, Run, Script, undo_of
from chaos.model.unknown import Unknown
from chaos.protocols.ability import LinkControl, Snapshot
from chaos.vendors.answers import document, shaped

_STATE = {
    "exists": bool,
    "interface": str,
    "operstate": str,
    "is_up": bool,
    "mtu": int,
    "carrier_changes": int,
    "addresses": list,
    "routes": list,
}
_COME_BACK_BY_THEMSELVES = frozenset({"kernel", "ra"})
_EXISTS_ALREADY = 2


class LinuxLinks(LinkControl):
    """Takes interfaces down and puts them back."""

    def state(self, interface: str) -> Question[Snapshot | Unknown]:
        return Question(Consult("link", {"interface": interface}), _read_state)

    def overview(self) -> Question[tuple[Snapshot, ...] | Unknown]:
        return Question(Run(("ip", "-j", "link", "show")), _read_overview)

    def down(self, interface: str) -> Script:
        return Script((Run(("ip", "link", "set", "dev", interface, "down")),))

    def restore(self, interface: str, before: Snapshot) -> Script:
        """Everything is put as it was, nothing is taken away: each act does nothing where its part was never lost."""
        state = "up" if before["is_up"] else "down"
        return undo_of(
            Run(("ip", "link", "set", "dev", interface, "mtu", str(before["mtu"]))),
            Run(("ip", "link", "set", "dev", interface, state)),
            *(_address(interface, address) for address in before["addresses"]),
            *(_route(interface, route) for route in before["routes"] if route.get("protocol") not in _COME_BACK_BY_THEMSELVES),
        )


def _address(interface: str, address: str) -> Run:
    """An address that is there keeps its lifetime: it is added, never replaced."""
    skip_detection = ("nodad",) if ":" in address else ()
    words = ("ip", "address", "add", address, "dev", interface, *skip_detection)
    return Run(words, accepts=(0, _EXISTS_ALREADY))


def _route(interface: str, route: Mapping[str, Any]) -> Run:
    return Run(("ip", route["family"], "route", "replace", route["dst"], *_words(interface, route)))


def _words(interface: str, route: Mapping[str, Any]) -> Iterator[str]:
    if route.get("gateway"):
        yield from ("via", route["gateway"])
    yield from ("dev", interface)
    for key, word in (("protocol", "proto"), ("scope", "scope"), ("prefsrc", "src"), ("metric", "metric")):
        if route.get(key) is not None:
            yield from (word, str(route[key]))
    for metrics in route.get("metrics", []):
        for key, value in metrics.items():
            yield from (key, str(value))
    if "onlink" in route.get("flags", []):
        yield "onlink"


def _read_state(answer: Answer) -> Snapshot | Unknown:
    found = document(answer, {"exists": bool})
    if isinstance(found, Unknown):
        return found
    if not found["exists"]:
        return Unknown("the node has no such interface", answer.tail)
    found = shaped(found, _STATE)
    if isinstance(found, Unknown):
        return found
    strange = [route for route in found["routes"] if not _is_restorable(route)]
    if strange or not all(isinstance(address, str) for address in found["addresses"]):
        return Unknown("an address or a route could not be put back as it is", str(strange)[:400])
    return found


def _is_restorable(route: Any) -> bool:
    return (
        isinstance(route, dict)
        and isinstance(route.get("dst"), str)
        and route.get("family") in {"-4", "-6"}
        and not {"nexthops", "encap", "via"} & route.keys()
    )


def _read_overview(answer: Answer) -> tuple[Snapshot, ...] | Unknown:
    if not answer.is_done or answer.timed_out:
        return Unknown("the interfaces could not be listed", answer.tail)
    try:
        rows = json.loads(answer.stdout)
        return tuple(
            {"interface": row["ifname"], "is_up": "UP" in row["flags"], "has_carrier": "LOWER_UP" in row["flags"]} for row in rows
        )
    except (ValueError, TypeError, KeyError):
        return Unknown("the list of interfaces cannot be read", answer.tail)
