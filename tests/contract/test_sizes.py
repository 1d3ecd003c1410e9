"""Small files, short functions, honest names: measured, so that nobody has to remember."""

import ast
import re
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
FOLDERS = ("chaos", "suites", "tests", "benchmarks")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, USUAL_FUNCTION = 300, 40, 10
VAGUE = re.compile(r"(^|_)(utils?|helpers?|common|managers?|base|misc)(_|$)")


def functions(file: Path):
    """Each function of a file with the number of its lines, its docstring apart."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            said = first.end_lineno - first.lineno + 1 if ast.get_docstring(node, clean=False) is not None else 0
            yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1 - said


def test_the_measure_sees_long_functions_and_leaves_docstrings_out(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path, raising=True)
    file = tmp_path / "a.py"
    file.write_text('def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n')

    assert list(functions(file)) == [("a.py:1 f", 3)]


def test_no_file_is_longer_than_300_lines():
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in FILES}

    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_40_lines():
    assert [(name, length) for file in FILES for name, length in functions(file) if length > LONGEST_FUNCTION] == []


def test_most_functions_are_shorter_than_10_lines():
    lengths = [length for file in FILES if file.is_relative_to(ROOT / "chaos") for _, length in functions(file)]

    assert median(lengths) < USUAL_FUNCTION


def test_package_files_hold_a_docstring_and_nothing_else():
    for file in (ROOT / "chaos").rglob("__init__.py"):
        assert [type(node).__name__ for node in ast.parse(file.read_text()).body] == ["Expr"], file


def test_no_file_has_a_name_that_says_nothing():
    assert [str(file) for file in FILES if VAGUE.search(file.stem) or VAGUE.search(file.parent.name)] == []
