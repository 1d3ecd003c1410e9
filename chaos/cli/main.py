"""The command ``chaos``. Each command's module is imported when the command is called, so that ``--help`` answers at once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from chaos.cli.output import ExitCode, exit_code_of, say, tell_error
from chaos.errors import UsageError

_ACCEPT, _BREAK, _KNOW = "Accept a cluster", "Break things", "Know what there is"


class Deferred(TyperCommand):
    """A command's name and help line; ``place`` is the ``module:attribute`` of the Typer application or function behind it."""

    def __init__(self, name: str, place: str, summary: str, panel: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel)
        self.place = place

    def load(self) -> Any:
        """The command itself.

        Raises:
            UsageError: this installation does not have it.
        """
        module, _, attribute = self.place.partition(":")
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            loaded = None
        found = getattr(loaded, attribute, None) or getattr(loaded, "app", None)
        if found is None:
            raise UsageError(f"run `chaos {self.name}`", why="this installation does not have it", todo="reinstall chaos")
        command: Any = get_command(found if isinstance(found, typer.Typer) else _application(found))
        command.name = self.name
        return command


def _application(function: Any) -> typer.Typer:
    application = typer.Typer(add_completion=False)
    application.command()(function)
    return application


COMMANDS = (
    Deferred("certify", "chaos.cli.certify:certify", "Measure, drill and grade a cluster, and write its certificate.", _ACCEPT),
    Deferred("qualify", "chaos.cli.certify:qualify", "Check nodes and fabric one by one, without breaking anything.", _ACCEPT),
    Deferred("drill", "chaos.cli.certify:drill", "Break things under a running job and grade each recovery.", _ACCEPT),
    Deferred("grade", "chaos.cli.grade:grade", "Grade a finished run or a fault trace without touching a node.", _ACCEPT),
    Deferred("report", "chaos.cli.report:report", "Write the reports of a run once more.", _ACCEPT),
    Deferred("inject", "chaos.cli.inject:inject", "Inject one fault, prove it, undo it, prove that too.", _BREAK),
    Deferred("revert", "chaos.cli.inject:revert", "Undo whatever a run left injected.", _BREAK),
    Deferred("stop", "chaos.cli.inject:stop", "Ask a running run to undo its faults and stop.", _BREAK),
    Deferred("sweep", "chaos.cli.inject:sweep", "Look for leftovers on the nodes, and remove them if asked.", _BREAK),
    Deferred("stop", "chaos.cli.inject:stop", "Ask a running run to undo its faults and stop.", _BREAK),
    Deferred("faults", "chaos.cli.faults:app", "List the faults, and which of them fit a node.", _KNOW),
    Deferred("inventory", "chaos.cli.inventory:app", "Check and show an inventory file.", _KNOW),
    Deferred("lab", "chaos.cli.lab:app", "Bring a virtual cluster up and down on this machine.", _KNOW),
)


class LazyGroup(TyperGroup):
    """Knows the names of its commands, and imports one only to run it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {command.name or "": command for command in COMMANDS}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Deferred) else command, rest


@dataclass(slots=True)
class Settings:
    """What the options before the command say."""

    debug: bool = False


_CODES = (
    "Exit codes: 0 accepted, 1 a criterion failed, 2 usage or configuration, 3 inconclusive or invalid, "
    "4 the site or the harness is not fit, 5 nothing selected, 130 interrupted with faults undone."
)
app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich", epilog=_CODES)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - asked once in a while

        try:
            typer.echo(f"chaos {version('chaos')}")
        except PackageNotFoundError:
            typer.echo("chaos (run from its sources, not installed)")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *,
    debug: Annotated[bool, typer.Option("--debug", envvar="CHAOS_DEBUG", help="Show the trace of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Acceptance tests and chaos drills for GPU clusters."""
    del version
    context.obj.debug = debug


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. This is the one place where errors become words and codes."""
    settings = Settings()
    try:
        result = get_command(app).main(args=arguments, prog_name="chaos", standalone_mode=False, obj=settings)
    except typer.Abort:
        say("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_is_gone()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - whatever it is, it ends here as words and a code
        return _failed(error, settings)
    return result if isinstance(result, int) else ExitCode.ACCEPTED


def _failed(error: BaseException, settings: Settings) -> int:
    show = getattr(error, "show", None)  # command line mistakes know how to show themselves, with the usage line
    if show is not None and hasattr(error, "exit_code"):
        show()
        return ExitCode.USAGE
    tell_error(error, debug=settings.debug)
    return exit_code_of(error)


def _reader_is_gone() -> int:
    """Whoever read our output (``| head``) has seen enough."""
    sys.stdout = None
    return ExitCode.ACCEPTED


def main() -> None:
    """The console script."""
    sys.exit(int(run()))


if __name__ == "__main__":
    main()
