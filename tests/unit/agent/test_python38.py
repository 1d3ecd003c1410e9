"""Nodes run what their distribution ships: the agent keeps to Python 3.8 and its standard library."""

from __future__ import annotations

import ast
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

import chaos.agent
from chaos.agent.archive import archive

FILES = sorted(Path(chaos.agent.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_python_38(file):
    ast.parse(file.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_imports_nothing_but_the_standard_library_and_its_siblings(file):
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.partition(".")[0])

    assert names <= set(sys.stdlib_module_names) | {"chaos_agent"}


def test_the_archive_holds_every_file_and_is_the_same_each_time():
    held = set(zipfile.ZipFile(BytesIO(archive())).namelist())

    assert held == {f"chaos_agent/{file.name}" for file in FILES if file.name not in {"archive.py", "__main__.py"}} | {
        "__main__.py"
    }
    assert archive() == archive()
