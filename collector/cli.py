"""The command line: find the command, turn overrides into flags and errors into exit codes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from collector import program_info
from collector.commands.common import PRINTED, print_json
from collector.commands.setting_options import with_setting_options
from collector.errors import FileError, SpotterError, UsageError
from collector.overrides import Override, declared_overrides, to_flags
from collector.terminal import say

INTERRUPTED = 130
TERMINATED = 143
COMMANDS = {
    "demo": "demo",
    "run": "run",
    "status": "status",
    "config": "config",
    "collect": "collect",
    "aggregate": "aggregate",
    "profile": "profile",
    "compare": "compare",
    "sql": "sql",
    "view": "view",
    "report": "report",
    "export": "export",
    "test": "self_test",
}
"""The modules of the commands in `collector.commands`. A module `x` has the function `x`, and
`FOREIGN` if the command knows settings of NeMo Gym that are not options here."""


def spotter(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the versions of spotter and its main packages.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Show them as JSON.")] = False,
) -> None:
    """Collect repeated rollouts of LLM agents, profile them, and query the results with SQL.

    Exit codes: 0 done, 1 the data broke an invariant or failed a gate, 2 wrong usage, 3 a server
    could not be reached or answered wrongly, 4 a file could not be read or written, 5 the data
    cannot tell whether a gate is passed. NeMo Gym's +key=value overrides work as well as the flags.
    """
    if version:
        program_info.show_versions(as_json=json)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(0 if json else UsageError.exit_code)


def make_app(*names: str, with_options: bool = True) -> typer.Typer:
    """Return the program with these commands: reading the options of all takes a while.

    Without options, it can only list the commands.
    """
    app = typer.Typer(
        name="spotter",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(spotter)
    for name in names:
        command = getattr(_module(name), COMMANDS[name])
        app.command(name, help=command.__doc__)(
            with_setting_options(command) if with_options else _do_nothing
        )
    return app


def _module(name: str) -> Any:
    return import_module(f"collector.commands.{COMMANDS[name]}")


def _do_nothing() -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with the message and the exit code of its error, if it fails."""
    given = sys.argv[1:] if arguments is None else arguments
    # exit the usual way, so that temporary files are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        names = given[:1] if given and given[0] in COMMANDS else list(COMMANDS)
        app = make_app(*names, with_options=not COMMANDS.keys().isdisjoint(given))
        app(_flags(given), prog_name="spotter")
    except SpotterError as error:
        if "--json" in given and not PRINTED:
            print_json({"error": str(error), "exit_code": error.exit_code})
        say(f"error: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        say(f"error: {error}")
        sys.exit(FileError.exit_code)
    except RuntimeError as error:  # DuckDB raises it for Ctrl-C in the middle of a query
        if "interrupted" not in str(error).lower():
            raise
        sys.exit(INTERRUPTED)


def known_overrides(name: str, *, with_serve: bool) -> dict[str, Override]:
    """Return the overrides of a command by key: those of its options, and NeMo Gym's others."""
    module = _module(name)
    command = with_setting_options(getattr(module, COMMANDS[name]))
    declared = declared_overrides(command, with_serve=with_serve)
    return {**declared, **getattr(module, "FOREIGN", {})}


def _flags(given: list[str]) -> list[str]:
    """Return the arguments with overrides as flags; most calls have no override."""
    if not given or given[0] not in COMMANDS:
        return given
    if not any("=" in word or word.startswith("+") for word in given):
        return given
    return to_flags(given, known_overrides(given[0], with_serve="--serve" in given), say)


def _alias(*words: str) -> Callable[[], None]:
    """Return a program that runs a command of Spotter under NeMo Gym's name for it."""

    def run_alias() -> None:
        main([*words, *sys.argv[1:]])

    return run_alias


ng_run = _alias("run")
ng_status = _alias("status")
ng_dump_config = _alias("config")
ng_collect_rollouts = _alias("collect")
ng_e2e_collect_rollouts = _alias("collect", "--serve")
ng_aggregate_rollouts = _alias("aggregate")
ng_reward_profile = _alias("profile")
ng_viewer = _alias("view")
ng_test = _alias("test")
ng_version = _alias("--version")


def ng_help() -> None:
    """List all commands under both names, as NeMo Gym's `ng_help` does."""
    typer.echo(program_info.commands_text(make_app(*COMMANDS, with_options=False)))
