"""The command line: find the command, turn overrides into flags and errors into exit codes."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from collector import __version__
from collector.commands import aggregate, collect, profile, sql
from collector.errors import FileError, SpotterError
from collector.overrides import to_flags

INTERRUPTED = 130
TERMINATED = 143
OVERRIDES = {
    "collect": collect.OVERRIDES,
    "aggregate": aggregate.OVERRIDES,
    "profile": profile.OVERRIDES,
    "sql": sql.OVERRIDES,
}

app = typer.Typer(
    name="spotter",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(collect.collect)
app.command()(aggregate.aggregate)
app.command()(profile.profile)
app.command()(sql.sql)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"spotter {__version__}")
        raise typer.Exit


@app.callback()
def spotter(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Collect repeated rollouts of LLM agents, profile them, and query the results with SQL.

    Exit codes: 0 done, 1 the data broke an invariant, 2 wrong usage, 3 a server could not be
    reached or answered wrongly, 4 a file could not be read or written. NeMo Gym's +key=value
    overrides work as well as the flags.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a failure ends with its message and its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    # end in order, so that temporary files go away
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        known = OVERRIDES.get(given[0], {}) if given else {}
        app(to_flags(given, known) if known else given, prog_name="spotter")
    except SpotterError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(FileError.exit_code)
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C in the middle of a query
        if "interrupted" not in str(error).lower():
            raise
        sys.exit(INTERRUPTED)


def ng_reward_profile() -> None:
    """Be NeMo Gym's `ng_reward_profile`: `spotter profile` under the name people know."""
    main(["profile", *sys.argv[1:]])


def ng_collect_rollouts() -> None:
    """Be NeMo Gym's `ng_collect_rollouts`."""
    main(["collect", *sys.argv[1:]])


def ng_aggregate_rollouts() -> None:
    """Be NeMo Gym's `ng_aggregate_rollouts`."""
    main(["aggregate", *sys.argv[1:]])
