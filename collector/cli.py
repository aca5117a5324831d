"""The command line: find the command, turn overrides into flags and errors into exit codes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from collector import program_info
from collector.commands import (
    aggregate,
    collect,
    config,
    demo,
    export,
    profile,
    report,
    run,
    self_test,
    sql,
    status,
    view,
)
from collector.commands.common import PRINTED, print_json
from collector.errors import FileError, SpotterError, UsageError
from collector.overrides import Override, declared_overrides, to_flags
from collector.terminal import say

INTERRUPTED = 130
TERMINATED = 143
# settings of NeMo Gym that are not options here
FOREIGN = {
    "collect": collect.FOREIGN,
    "aggregate": aggregate.FOREIGN,
    "profile": profile.FOREIGN,
}
COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "run": run.run,
    "status": status.status,
    "config": config.config,
    "collect": collect.collect,
    "aggregate": aggregate.aggregate,
    "profile": profile.profile,
    "sql": sql.sql,
    "view": view.view,
    "report": report.report,
    "export": export.export,
    "test": self_test.self_test,
}


def spotter(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the versions of spotter and its main packages.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Show them as JSON.")] = False,
) -> None:
    """Collect repeated rollouts of LLM agents, profile them, and query the results with SQL.

    Exit codes: 0 done, 1 the data broke an invariant, 2 wrong usage, 3 a server could not be
    reached or answered wrongly, 4 a file could not be read or written. NeMo Gym's +key=value
    overrides work as well as the flags.
    """
    if version:
        program_info.show_versions(as_json=json)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(0 if json else UsageError.exit_code)


def commands(*names: str) -> typer.Typer:
    """Make the program of some commands: to read the options of all takes longer than most do."""
    app = typer.Typer(
        name="spotter",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(spotter)
    for name in names:
        app.command(name)(COMMANDS[name])
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a failure ends with its message and its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    # end in order, so that temporary files go away
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        app = commands(*(given[:1] if given and given[0] in COMMANDS else COMMANDS))
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
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C in the middle of a query
        if "interrupted" not in str(error).lower():
            raise
        sys.exit(INTERRUPTED)


def known_overrides(name: str, *, with_serve: bool) -> dict[str, Override]:
    """Return the overrides of a command: those of its options, and what else NeMo Gym has."""
    declared = declared_overrides(COMMANDS[name], with_serve=with_serve)
    return {**declared, **FOREIGN.get(name, {})}


def _flags(given: list[str]) -> list[str]:
    """Turn overrides among the arguments into flags; most calls have none."""
    if not given or given[0] not in COMMANDS:
        return given
    if not any("=" in word or word.startswith("+") for word in given):
        return given
    return to_flags(given, known_overrides(given[0], with_serve="--serve" in given), say)


def _alias(*words: str) -> Callable[[], None]:
    """Make one of NeMo Gym's commands: ours under the name people know."""

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
    """Be NeMo Gym's `ng_help`: list all commands, under both names."""
    typer.echo(program_info.commands_text(commands(*COMMANDS)))
