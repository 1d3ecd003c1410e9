"""One command, one place for words and exit codes."""

import json
import subprocess
import sys

import pytest

from chaos.cli import main as command_line
from chaos.cli.main import COMMANDS, Deferred, run
from chaos.errors import (
    CommandFailed,
    CriterionNotMet,
    Damaged,
    Inconclusive,
    InventoryError,
    NoEffect,
    NotPermitted,
    StillPresent,
    Unreachable,
    UsageError,
)


@pytest.fixture
def command(monkeypatch):
    """Puts a function behind the command ``certify``."""

    def put(function):
        monkeypatch.setattr(Deferred, "load", lambda self: command_line.get_command(command_line._application(function)))

    return put


def failing_with(error):
    def fail():
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CriterionNotMet("recovery took 301 s"), 1),
        (InventoryError("read", file="f"), 2),
        (NotPermitted("power off gpu1"), 2),
        (Inconclusive("no events"), 3),
        (NoEffect("flap eth0"), 3),
        (Unreachable("log in", where="gpu1"), 4),
        (CommandFailed("ip link", where="gpu1", exit_status=2), 4),
        (StillPresent("flap eth0"), 4),
        (Damaged("read the ledger"), 4),
        (ValueError("nobody foresaw this"), 4),
        (KeyboardInterrupt(), 130),
        (ExceptionGroup("many", [Unreachable("log in", where="a"), Inconclusive("b")]), 4),
    ],
)
def test_each_error_has_its_exit_code(command, capsys, error, code):
    command(failing_with(error))

    assert run(["certify"]) == code
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("code", [0, 1, 3, 5])
def test_a_command_that_returns_a_number_ends_with_it(command, code):
    command(lambda: code)

    assert run(["certify"]) == code


def test_an_error_says_what_where_why_and_what_next(command, capsys):
    command(failing_with(Unreachable("log in", where="gpu1", why="no answer in 5s", todo="look at its console")))

    run(["certify"])

    assert capsys.readouterr().err == "error: gpu1: log in: no answer in 5s\n  next: look at its console\n"


def test_one_error_on_many_nodes_is_told_once(command, capsys):
    errors = [Unreachable("log in", where=f"gpu{number:03}", why="no answer") for number in range(1, 65)]
    command(failing_with(ExceptionGroup("64 nodes are not there", [*errors, ExceptionGroup("inner", [Damaged("read x")])])))

    run(["certify"])

    assert capsys.readouterr().err == "error: 64 nodes are not there\ngpu[001-064]: log in: no answer\nread x\n"


@pytest.mark.parametrize("debug", [True, False])
def test_a_trace_is_shown_only_when_asked_for(command, capsys, debug):
    command(failing_with(ZeroDivisionError("x")))

    run([*(["--debug"] if debug else []), "certify"])

    shown = capsys.readouterr().err
    assert ("Traceback" in shown) is debug
    assert "ZeroDivisionError: x" in shown


def test_a_wrong_command_line_is_code_2_and_names_what_was_meant(capsys):
    assert run(["inventry"]) == 2
    assert "Did you mean 'inventory'?" in capsys.readouterr().err
    assert run(["faults", "list", "--jsn"]) == 2


@pytest.mark.parametrize("place", ["chaos.cli.dance:dance", "chaos.cli.output:dance"])
def test_a_command_that_is_not_installed_is_said_so(place):
    with pytest.raises(UsageError, match=r"run `chaos dance`: this installation does not have it"):
        Deferred("dance", place, "Dance.", "Fun").load()


def test_a_mistake_inside_a_command_is_not_taken_for_a_missing_command(tmp_path, monkeypatch):
    (tmp_path / "broken_command.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        Deferred("broken", "broken_command:app", "", "").load()


def test_a_module_may_offer_a_whole_application_instead_of_a_function(tmp_path, monkeypatch):
    (tmp_path / "app_command.py").write_text("import typer\napp = typer.Typer()\n@app.command()\ndef anything(): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert Deferred("dance", "app_command:dance", "", "").load().name == "dance"


def test_no_colour_where_nobody_looks(command, capsys):
    command(failing_with(Inconclusive("x")))

    run(["certify"])

    assert "\x1b" not in capsys.readouterr().err


def test_help_names_every_command_and_every_exit_code(capsys):
    assert run(["--help"]) == 0

    shown = capsys.readouterr().out
    assert all(command.name in shown for command in COMMANDS)
    assert all(f"{code} " in shown for code in (0, 1, 2, 3, 4, 5, 130))


def test_help_imports_nothing_heavy():
    heavy = ("pydantic", "yaml", "ClusterShell", "scipy", "paramiko", "fabric", "torch", "jinja2", "allure", "chaos.catalog")
    code = f"import sys; from chaos.cli.main import run; run(['--help']); sys.exit(str([m for m in {heavy} if m in sys.modules]))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stderr.strip() == "[]"


def test_the_version_is_printed(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("chaos ")


def test_output_that_nobody_reads_is_no_error():
    code = "from chaos.cli.main import main; main()"
    line = f"{sys.executable} -c '{code}' inventory show --json inventory/example-nvidia.yaml | head -n 1"

    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("{\n", "")


def test_json_is_one_document_with_a_kind_and_a_version(capsys):
    assert run(["inventory", "show", "--json", "inventory/lab.yaml"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["cluster"]["nodes"][0]["severity_allowed"] == "destructive"
    assert (document["kind"], document["version"], document["cluster"]["name"]) == ("inventory", 1, "lab")
