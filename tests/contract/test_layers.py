"""The picture of the layers holds: import-linter reads its contracts from pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LINT], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    """The package and its contracts in another place, to be broken."""
    shutil.copytree(ROOT / "chaos", tmp_path / "chaos", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_layer_contract_is_kept():
    done = lint(ROOT)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "text", "broken"),
    [
        ("model/upward.py", "import chaos.catalog", "Data flows one way BROKEN"),
        ("faults/sideways.py", "import chaos.vendors", "Data flows one way BROKEN"),
        ("stray.py", "", "Data flows one way BROKEN"),
        ("faults/impure.py", "import subprocess", "The core is pure BROKEN"),
        ("criteria/heavy.py", "import torch", "Only programs on nodes touch accelerators BROKEN"),
        ("engine/dials.py", "import paramiko", "Only the transport knows SSH BROKEN"),
    ],
)
def test_a_module_in_the_wrong_place_is_refused(copy, file, text, broken):
    (copy / "chaos" / file).write_text(f"{text}\n")

    done = lint(copy)

    assert done.returncode == 1
    assert broken in done.stdout
