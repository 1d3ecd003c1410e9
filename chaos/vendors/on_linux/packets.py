"""Packets by nftables, only ever in a table of our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from chaos.model.acts import Answer, Question, Run, Script, undo_of
from chaos.model.unknown import Unknown
from chaos.protocols.ability import PacketFilter, Snapshot
from chaos.vendors.answers import document, program


class NetfilterTables(PacketFilter):
    """Drops packets before any rule of the site sees them."""

    def drop(self, table: str, peers: Iterable[str], interface: str) -> Script:
        """One transaction: a table of the same name that is there already is replaced, so doing it twice is doing it once."""
        listed = tuple(peers)
        rules = (
            *_forget(table),
            f"add table inet {table}",
            *_chain(table, "input", listed, f'iifname "{interface}"', "saddr"),
            *_chain(table, "output", listed, f'oifname "{interface}"', "daddr"),
        )
        return Script((_load(rules),))

    def remove(self, table: str) -> Script:
        return undo_of(_load(_forget(table)))

    def state(self, table: str, peers: Iterable[str]) -> Question[Snapshot | Unknown]:
        return Question(program("reachability", "inet", table, *peers), _read_state)


def _load(lines: Iterable[str]) -> Run:
    return Run(("nft", "-f", "-"), stdin="\n".join(lines) + "\n")


def _forget(table: str) -> tuple[str, str]:
    """Deleting what is not there is an error in nft; adding what is there is none."""
    return f"add table inet {table}", f"delete table inet {table}"


def _chain(table: str, hook: str, peers: Iterable[str], interface: str, side: str) -> Iterator[str]:
    yield f"add chain inet {table} {hook} {{ type filter hook {hook} priority -300; policy accept; }}"
    for peer in peers:
        family = "ip6" if ip_address(peer).version == 6 else "ip"
        yield f"add rule inet {table} {hook} {interface} {family} {side} {peer} counter drop"


def _read_state(answer: Answer) -> Snapshot | Unknown:
    found = document(answer, {"table": bool, "answers": dict})
    if isinstance(found, Unknown):
        return found
    if not all(isinstance(value, bool) for value in found["answers"].values()):
        return Unknown("the answers of the peers cannot be read", answer.tail)
    return found
