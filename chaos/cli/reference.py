"""The reference pages, written from the catalogue and from the inventory's shape: ``python -m chaos.cli.reference FOLDER``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaos.catalog import Catalog
from chaos.cli.faults import described, parameters
from chaos.inventory.shape import json_schema

FAMILIES: Mapping[str, str] = {
    "faults": "What can be broken. Fidelity says how truly: `real` is the thing itself, `emulated` its effect on the application, "
    "`signal` moves telemetry only.",
    "vendors": "Which platform a node is, and so which abilities it offers.",
    "workloads": "Loads that are measured, or that run while something breaks.",
    "launchers": "How a load is started on many nodes.",
    "probes": "What is asked of each node before anything is measured.",
    "criteria": "What is graded, each with the histories it must accept and reject before its word counts.",
    "power_drivers": "Ways to a node's power that do not pass through the node.",
}


def pages(catalog: Catalog) -> dict[str, str]:
    """Markdown by file name."""
    written = {f"{family}.md": _page(family, summary, getattr(catalog, family)) for family, summary in FAMILIES.items()}
    written["inventory.md"] = "\n".join(_inventory())
    index = "".join(f"- [{_title(Path(name).stem)}]({name})\n" for name in sorted(written))
    return {"README.md": f"# Reference\n\nGenerated from what is installed.\n\n{index}", **written}


def _title(family: str) -> str:
    return family.replace("_", " ").capitalize()


def _page(family: str, summary: str, kinds: Mapping[str, type]) -> str:
    entries = (line for kind, entry in kinds.items() for line in _entry(family, kind, entry))
    return "\n".join([f"# {_title(family)}", "", summary, "", *entries])


def _entry(family: str, kind: str, entry: Any) -> Iterator[str]:
    yield from (f"## `{kind}`", "", f"**{getattr(entry, 'title', kind)}**", "", inspect.getdoc(entry) or "", "")
    if family == "faults":
        yield from (_row("Property", "Value"), _row("---", "---"))
        told = {name: value for name, value in described(entry).items() if name not in {"kind", "title", "text", "parameters"}}
        yield from (_row(name.replace("_", " "), _words(value)) for name, value in told.items())
        yield ""
    if given := parameters(entry):
        yield from (_row("Parameter", "Type", "Default"), _row("---", "---", "---"))
        yield from (_row(f"`{each['name']}`", each["type"], each["default"]) for each in given)
        yield ""


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _row(*cells: str) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _inventory() -> Iterator[str]:
    schema = json_schema()
    yield from ("# Inventory", "", "Keys of an inventory file, by the mapping they stand in.", "")
    for name, shape in {"Inventory": schema, **schema["$defs"]}.items():
        yield from (
            f"## {name}",
            "",
            shape.get("description", ""),
            "",
            _row("Key", "Meaning", "Needed"),
            _row("---", "---", "---"),
        )
        needed = shape.get("required", ())
        for key, value in shape["properties"].items():
            yield _row(f"`{key}`", value.get("description", "").replace("\n", " "), "yes" if key in needed else "")
        yield ""


def main(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(Catalog.installed()).items():
        (folder / name).write_text(text.rstrip("\n") + "\n")
    sys.stderr.write(f"wrote {folder}/README.md\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
