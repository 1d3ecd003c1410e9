"""The files beside Allure's results: categories, environment and executor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from chaos.model.history import History
from chaos.model.verdicts import Judgement
from chaos.reports.plain_text import printable
from chaos.reports.texts import shapes


def categories() -> str:
    """How results are sorted: failed is the cluster, broken is us."""
    return (shapes() / "allure" / "categories.json").read_text()


def environment(judgement: Judgement | None, history: History | None) -> str:
    """What the run was, as properties. The verdict stands first: Allure's own percentage is not it."""
    values: dict[str, str] = {}
    if judgement is not None:
        values |= {"Verdict": judgement.outcome.value, "Profile": judgement.profile, "Profile.digest": judgement.profile_digest}
    opening = history.opening if history else None
    if history is not None and opening is not None:
        kind = "virtual, with emulated accelerators" if opening.is_virtual else "hardware"
        values |= {"Cluster": f"{opening.cluster} ({kind})", "Run": opening.run_id, "Seed": str(opening.seed)}
        values |= {"Plan.digest": opening.plan_digest, "Inventory.digest": opening.inventory_digest}
        values |= {"Ledger.head": history.events[-1].seal, "Ledger.events": str(len(history.events))}
        values |= {f"Version.{name}": version for name, version in opening.versions.items()}
    return "".join(f"{_key(name)}={_value(value)}\n" for name, value in values.items())


def executor(history: History | None) -> str:
    """Who made the results."""
    opening = history.opening if history else None
    run = opening.run_id if opening else "no run"
    return json.dumps({"name": "chaos", "type": "chaos", "buildName": printable(run), "reportName": f"chaos {printable(run)}"})


def write(folder: Path, judgement: Judgement | None, history: History | None) -> None:
    """Puts all three into a folder of results."""
    files: Mapping[str, str] = {
        "categories.json": categories(),
        "environment.properties": environment(judgement, history),
        "executor.json": executor(history),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _key(name: str) -> str:
    return "".join(character if character.isalnum() or character in "._-" else "_" for character in name)


def _value(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("\n", " ").replace("\t", " ")
