"""How an inventory writes things that repeat: host ranges, placeholders, addresses, device addresses.

Two ways say what differs from node to node:

* a **range** as long as the hosts of the group, taken in the same order: hosts ``gpu[001-128]``, address ``10.0.0.[1-128]``;
* a **placeholder**: ``{name}`` is the node's name, ``{number}`` the last number in it (7 in ``gpu007``), ``{index}`` its place in the
  group from 0; within lists made by ``count``, ``{device}`` and ``{rail}`` count from 0. ``{number+10}`` and ``{index-1}`` add and
  subtract, ``{number:03}`` pads with zeros to a width.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from itertools import pairwise

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

from chaos.model.spelling import suggestion

MOST_HOSTS = 100_000

_HOSTS = re.compile(r"[A-Za-z0-9._,:/\[\]-]+", re.ASCII)
_SPAN = re.compile(r"(\d+)(?:-(\d+)(?:/(\d+))?)?", re.ASCII)
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"\[[0-9,/-]+\]", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_EXPRESSION = re.compile(r"([a-z_]+)([+-][0-9]{1,9})?(?::0?([0-9]))?", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?", re.ASCII)
_PCI = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.ASCII)
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}", re.ASCII)


def hosts(text: str) -> tuple[str, ...]:
    """The names in a host range, in the order written.

    Raises:
        ValueError: not a range, names twice, numbers that do not ascend, or more than :data:`MOST_HOSTS` names.
    """
    if not _HOSTS.fullmatch(text):
        raise ValueError(f"{text!r} is not a host range such as gpu[001-128] or login1,login2")
    pieces = re.split(r",(?![^\[]*\])", text)  # commas outside brackets: the order written is kept
    if sum(_size(piece) for piece in pieces) > MOST_HOSTS:
        raise ValueError(f"{text!r} names more than {MOST_HOSTS} hosts")
    try:
        names = [name for piece in pieces if piece for name in NodeSet(piece, resolver=RESOLVER_NOGROUP)]
    except Exception as error:  # ClusterShell's parser errors share no public base
        raise ValueError(f"{text!r} is not a host range: {error}") from error
    if not names or len(set(names)) != len(names):
        raise ValueError(f"{text!r} names {'a host twice' if names else 'nobody'}")
    return tuple(names)


def _size(piece: str) -> int:
    """At most how many names a range stands for, found before anything is expanded."""
    size = 1
    for bracket in _BRACKET.findall(piece):
        spans = [(int(first), int(last or first), int(step or 1)) for first, last, step in _SPAN.findall(bracket)]
        bounds = [number for first, last, _ in spans for number in (first, last)]
        if bounds != sorted(bounds) or any(one[1] >= other[0] for one, other in pairwise(spans)):
            raise ValueError(f"[{bracket}] does not ascend, so it is unclear which name belongs to which value: split the group")
        size *= sum((last - first) // max(step, 1) + 1 for first, last, step in spans)
    return size


def is_range(text: str) -> bool:
    """Whether the text holds a numeric range; an IPv6 address in brackets is none."""
    return _RANGE.search(text) is not None


def number_in(name: str) -> int | None:
    """The last number in a name, or None."""
    found: list[str] = re.findall(r"\d+", name, re.ASCII)
    return int(found[-1]) if found else None


def fill(text: str, words: Mapping[str, str | int]) -> str:
    """The text with its placeholders replaced.

    Raises:
        ValueError: a placeholder is unknown, or its arithmetic is not understood.
    """
    return _PLACEHOLDER.sub(lambda match: _filled(match[1], words), text)


def _filled(expression: str, words: Mapping[str, str | int]) -> str:
    match = _EXPRESSION.fullmatch(expression)
    if match is None:
        raise ValueError(f"{{{expression}}} is not a placeholder such as {{name}}, {{number+10}} or {{index:02}}")
    word, added, width = match.groups()
    if word not in words:
        raise ValueError(f"{{{expression}}} cannot be filled here: {suggestion(word, words)}")
    value = words[word]
    if isinstance(value, str):
        if added or width:
            raise ValueError(f"{{{expression}}} counts with a word: only numbers can be added to and padded")
        return value
    return f"{value + int(added or 0):0{int(width or 1)}d}"


def address(text: str) -> str:
    """An IPv4 or IPv6 address in its canonical form, or a host name as written.

    Raises:
        ValueError: it is neither.
    """
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return str(ipaddress.ip_address(inner))
    except ValueError:
        labels = text.removesuffix(".").split(".")
        is_name = len(text) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
        if is_name and not labels[-1].isdigit():
            return text
    raise ValueError(f"{text!r} is neither an IPv4 address, an IPv6 address nor a host name")


def pci_address(text: str) -> str:
    """A PCI address as sysfs writes it: ``00000000:5E:00.0`` and ``5e:00.0`` both become ``0000:5e:00.0``.

    Raises:
        ValueError: it is none.
    """
    match = _PCI.fullmatch(text.lower())
    if match is None:
        raise ValueError(f"{text!r} is not a PCI address such as 0000:5e:00.0")
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}"


def interface(text: str) -> str:
    """The name of a network interface.

    Raises:
        ValueError: Linux would not take it (15 characters at most).
    """
    if not _INTERFACE.fullmatch(text):
        raise ValueError(f"{text!r} is not an interface name: 1 to 15 letters, digits and _ . : @ -")
    return text
