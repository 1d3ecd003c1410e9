"""From words to nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from chaos.inventory import notation
from chaos.inventory.settings import NodeWords, Said
from chaos.model.nodes import Accelerator, Bmc, Domains, Interface, Node, Role, Severity, Ssh


def build(words: NodeWords) -> Node:
    """The node of which these words speak; mistakes stay in ``words.mistakes``."""
    address = words.text("address", default=words.name, per_node=True, read=notation.address)
    severity = str(words.value("severity_allowed", default="disruptive"))
    return Node(
        name=words.name,
        address=address,
        role=Role(words.value("role", default="compute")),
        vendor=words.text("vendor", default="linux"),
        accelerators=_accelerators(words),
        management=_management(words, address),
        training=_training(words),
        domains=Domains(**{name: words.text("domains", name, per_node=True) for name in ("rack", "rail_group", "power")}),
        severity_allowed=Severity[severity.upper()],
        ssh=_ssh(words),
        bmc=_bmc(words),
        python=words.text("python", default="python3"),
        kernel_log=words.text("kernel_log", default="/dev/kmsg"),
        shared_storage=words.text("shared_storage"),
        properties={key: words.text("properties", key) for key in words.keys_below("properties")},
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a list: what it says, and what its placeholder counts (``device`` or ``rail``)."""

    words: NodeWords
    said: Said
    content: Mapping[str, Any]
    counts: str
    position: int

    def text(self, key: str, read: Callable[[str], str] = str) -> str:
        text = self.content.get(key) or ""
        if not text:
            return ""
        origin = (*self.said.origin, self.position, key) if isinstance(self.said.value, list) else (*self.said.origin, key)
        counting: dict[str, str | int] = {self.counts: self.position}
        return self.words.attempt(
            origin, lambda: read(self.words.filled(text, self.said, counting, per_node=key == "address")), ""
        )


def _entries(words: NodeWords, key: str, counts: str) -> Iterator[_Entry]:
    """The entries of a list, or those that a ``count`` stands for; there a listed value holds one for each entry."""
    said = words.said.get((key,))
    if said is None:
        return
    listed = said.value if isinstance(said.value, list) else _counted(words, said)
    for position, content in enumerate(listed):
        yield _Entry(words, said, content, counts, position)


def _counted(words: NodeWords, said: Said) -> list[dict[str, Any]]:
    count = int(said.value["count"])
    for key, value in said.value.items():
        if isinstance(value, list) and len(value) != count:
            mistake = words.document.mistake((*said.origin, key), f"{len(value)} values for {count} devices")
            words.mistakes.append(mistake)
            return []
    return [
        {key: value[position] if isinstance(value, list) else value for key, value in said.value.items()}
        for position in range(count)
    ]


def _accelerators(words: NodeWords) -> tuple[Accelerator, ...]:
    return tuple(
        Accelerator(entry.position, entry.text("uuid"), entry.text("pci_address", notation.pci_address), entry.text("model"))
        for entry in _entries(words, "accelerators", "device")
    )


def _training(words: NodeWords) -> tuple[Interface, ...]:
    return tuple(
        Interface(
            name=entry.text("name", notation.interface),
            address=entry.text("address", notation.address),
            rail=entry.position if entry.content.get("rail") is None else entry.content["rail"],
        )
        for entry in _entries(words, "training", "rail")
    )


def _management(words: NodeWords, address: str) -> Interface | None:
    if ("management", "name") not in words.said:
        return None
    name = words.text("management", "name", read=notation.interface)
    return Interface(name, words.text("management", "address", default=address, per_node=True, read=notation.address))


def _ssh(words: NodeWords) -> Ssh:
    folder = FilePath(words.document.file).parent

    def local(text: str) -> str:
        return _on_controller(folder, text)

    return Ssh(
        user=words.text("ssh", "user"),
        port=words.value("ssh", "port", default=22),
        identity_files=words.texts("ssh", "identity_files", read=local),
        known_hosts=words.text("ssh", "known_hosts", read=local),
        config=words.text("ssh", "config", read=local),
        proxy_jump=words.text("ssh", "proxy_jump"),
    )


def _on_controller(folder: FilePath, text: str) -> str:
    """A path on the controller: ``~`` is the user's home, a relative path starts at the inventory's folder."""
    try:
        return str(folder / FilePath(text).expanduser()) if text else ""
    except RuntimeError as error:
        raise ValueError(f"{text!r} has no home folder to start from") from error


def _bmc(words: NodeWords) -> Bmc | None:
    driver = words.text("bmc", "driver")
    address = words.text("bmc", "address", per_node=True)
    for missing, other in (("driver", address), ("address", driver)):
        if other and ("bmc", missing) not in words.said:
            said = next(value for key, value in words.said.items() if key[0] == "bmc")
            words.mistakes.append(words.document.mistake(said.origin, f"a bmc needs {missing!r} too", todo=f"add `{missing}:`"))
    return Bmc(driver, address) if driver and address else None
