"""What the documents say is true as far as a machine can tell."""

import re
from pathlib import Path

import pytest

from chaos.cli.main import COMMANDS
from chaos.cli.output import ExitCode
from chaos.inventory.reading import parse

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def named(file):
    return str(file.relative_to(ROOT))


def blocks(file, language):
    return [text for kind, text in BLOCK.findall(file.read_text()) if kind == language]


@pytest.mark.parametrize("file", DOCUMENTS, ids=named)
def test_every_link_leads_somewhere(file):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", file.read_text())

    assert [target for target in targets if not (file.parent / target).exists()] == []


def test_every_command_in_the_documents_exists():
    lines = [line for file in DOCUMENTS for text in blocks(file, "console") for line in text.splitlines()]
    words = {line.split()[2] for line in lines if line.strip().startswith("$ chaos ")}

    assert words
    assert words <= {command.name for command in COMMANDS}


def test_every_make_target_in_the_documents_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = {
        word
        for file in DOCUMENTS
        for word in re.findall(r"`make (\w+)`|\$ make (\w+)", file.read_text())
        for word in word
        if word
    }

    assert used
    assert used <= targets


def test_the_example_in_the_inventory_page_is_an_inventory():
    (text,) = blocks(ROOT / "docs" / "inventory.md", "yaml")

    assert len(parse(text.encode(), "docs/inventory.md")) == 128


def test_the_readme_lists_every_exit_code():
    table = re.findall(r"^\| (\d+) \|", (ROOT / "README.md").read_text(), re.MULTILINE)

    assert [int(code) for code in table] == [code.value for code in ExitCode]


def test_every_decision_is_on_the_list():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[^)]+\.md)\)", (folder / "README.md").read_text())

    assert listed == sorted(file.name for file in folder.glob("0*.md"))
