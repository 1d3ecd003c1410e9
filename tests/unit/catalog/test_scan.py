"""Being there is being known: one class in one file, in this package or in another distribution."""

import importlib
import sys
from importlib.metadata import EntryPoint
from textwrap import dedent

import pytest

from chaos import catalog
from chaos.catalog import found
from chaos.errors import PlanError
from chaos.protocols.vendor import Vendor

VENDOR = """
    from chaos.protocols.vendor import Vendor

    class {name}(Vendor):
        kind = {kind!r}
        title = "a vendor"

        def abilities(self, node):
            return ()
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes the files of a throw-away package and names it; PACKAGE in a text stands for that name."""
    name = f"scanned_{abs(hash(tmp_path))}"
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(files: dict[str, str]) -> str:
        for path, text in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            for folder in [file.parent, *file.parent.parents]:
                if folder == tmp_path:
                    break
                (folder / "__init__.py").touch()
            file.write_text(dedent(text).replace("PACKAGE", name))
        importlib.invalidate_caches()
        return name

    yield write
    for module in [each for each in sys.modules if each.startswith(name)]:
        del sys.modules[module]


def vendor(name: str, kind: str) -> str:
    return VENDOR.format(name=name, kind=kind)


def test_concrete_classes_are_found_at_any_depth(package):
    name = package({"one.py": vendor("One", "one"), "deep/deeper/two.py": vendor("Two", "two")})

    assert list(found(name, Vendor)) == ["one", "two"]


def test_abstract_imported_private_and_foreign_classes_are_not_counted(package):
    name = package(
        {
            "abstract.py": "from chaos.protocols.vendor import Vendor\nclass Half(Vendor):\n    kind = 'half'\n",
            "foreign.py": "class Other:\n    kind = 'other'\n",
            "hidden.py": vendor("_Hidden", "hidden"),
            "imported.py": "from PACKAGE.real import Real\n",
            "real.py": vendor("Real", "real"),
        }
    )

    assert list(found(name, Vendor)) == ["real"]


def test_programs_that_run_on_nodes_are_not_imported(package):
    name = package({"programs/heavy.py": "raise SystemExit('imported')", "__main__.py": "raise SystemExit('imported')"})

    assert dict(found(name, Vendor)) == {}


def test_two_classes_of_one_kind_are_refused_and_both_are_named(package):
    name = package({"one.py": vendor("One", "same"), "two.py": vendor("Two", "same")})

    with pytest.raises(PlanError, match=rf"'same'.*{name}\.one\.One and {name}\.two\.Two"):
        found(name, Vendor)


def test_a_class_without_a_kind_is_refused(package):
    name = package({"one.py": vendor("One", "")})

    with pytest.raises(PlanError, match=r"one\.One.*no `kind`"):
        found(name, Vendor)


def test_what_was_found_cannot_be_changed(package):
    kinds = found(package({"one.py": vendor("One", "one")}), Vendor)

    with pytest.raises(TypeError):
        kinds["two"] = Vendor


@pytest.fixture
def plugged_in(monkeypatch):
    """Declares entry points of a group."""

    def declare(*values: str) -> None:
        points = [EntryPoint(value, value, "chaos.vendors") for value in values]
        monkeypatch.setattr(catalog, "entry_points", lambda group: [each for each in points if each.group == group])

    return declare


def test_an_entry_point_adds_a_class_or_a_module_of_classes(package, plugged_in):
    plugin = package({"one.py": vendor("One", "one"), "two.py": vendor("Two", "two")})
    plugged_in(f"{plugin}.one:One", f"{plugin}.two")

    assert {"one", "two"} <= set(found("chaos.vendors", Vendor))


@pytest.mark.parametrize("value", ["no_such_module:Thing", "json:loads", "json:JSONDecoder"])
def test_an_entry_point_that_is_broken_is_named(plugged_in, value):
    plugged_in(value)

    with pytest.raises(PlanError, match=value):
        found("chaos.vendors", Vendor)
