"""The command line: parse options, call one function, turn errors into exit codes."""

from __future__ import annotations

import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector import __version__
from collector.errors import FileError, SpotterError, UsageError
from collector.overrides import Override, to_flags

PROFILE_OVERRIDES = {
    "rollouts_jsonl_fpath": Override("--rollouts"),
    "materialized_inputs_jsonl_fpath": Override("--inputs"),
    "allow_partial_rollouts": Override("--allow-partial", is_switch=True),
    "warehouse": Override("--warehouse"),
    "output_dir": Override("--output-dir"),
    "run_id": Override("--run-id"),
    "memory_limit": Override("--memory-limit"),
}
INTERRUPTED = 130
TERMINATED = 143

if TYPE_CHECKING:
    from collector.query import Mart

OVERRIDES = {"profile": PROFILE_OVERRIDES, "sql": {"warehouse": Override("--warehouse")}}

app = typer.Typer(
    name="spotter",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Warehouse = Annotated[
    Path,
    typer.Option(
        "--warehouse",
        "-w",
        envvar="SPOTTER_WAREHOUSE",
        readable=False,
        help="The DuckDB file with the marts.",
    ),
]


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
    """Profile repeated rollouts of LLM agents, and query the results with SQL.

    Exit codes: 0 done, 1 the data broke an invariant, 2 wrong usage, 4 a file could not be read or
    written. NeMo Gym's +key=value overrides work as well as the flags.
    """


@app.command()
def profile(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="Rollouts files, or folders that hold some; other artifacts are passed over.",
        ),
    ] = None,
    *,
    rollouts: Annotated[
        Path | None, typer.Option(readable=False, help="The rollouts file of one run.")
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Its materialized inputs.  [default: <stem>_materialized_inputs.jsonl]",
        ),
    ] = None,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Profile what is there if rollouts are missing.")
    ] = False,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    output_dir: Annotated[
        Path | None,
        typer.Option(help="Where the output files go.  [default: beside the rollouts]"),
    ] = None,
    run_id: Annotated[
        str | None, typer.Option(help="Name of the run.  [default: <stem>-<hash of the path>]")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Memory for DuckDB, like 4GB.  [default: half of the machine's]"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Profile one or more runs: rewards and other metrics per task and per agent.

    Writes <stem>_reward_profiling.jsonl and <stem>_agent_metrics.json as NeMo Gym does, and the
    marts of the warehouse. A run that was profiled before is replaced.

    \b
    spotter profile results/rollouts.jsonl
    spotter profile results/ --allow-partial
    spotter profile +rollouts_jsonl_fpath=results/rollouts.jsonl ++allow_partial_rollouts=True
    """
    from collector import artifacts, report
    from collector.profile import BrokenRunsError, Settings
    from collector.profile import profile as profile_runs
    from collector.terminal import Progress

    given = [*(paths or []), *([rollouts] if rollouts else [])]
    if not given:
        raise UsageError("which rollouts? Name a file or a folder: spotter profile results/")
    runs = artifacts.plan_runs(
        artifacts.find_rollouts(given), inputs=inputs, output_dir=output_dir, run_id=run_id
    )
    settings = Settings(warehouse.absolute(), allow_partial, memory_limit)
    progress = Progress()
    try:
        outcome = profile_runs(runs, settings, listener=progress)
    except BrokenRunsError as error:
        if json:
            _print_json(report.problems_as_data(error))
        raise
    finally:
        progress.clear()
    if json:
        _print_json(report.as_data(outcome))
    else:
        typer.echo(report.as_text(outcome))
    for warning in report.warnings(outcome):
        typer.echo(f"warning: {warning}", err=True)


@app.command()
def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            show_default=False, help="The query, or - to read it; without one, list the marts."
        ),
    ] = None,
    *,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Query the warehouse, read-only; without a query, list its marts.

    \b
    spotter sql "select task_index, reward_mean from task_profiles order by reward_mean limit 5"
    spotter sql "select * from agent_metrics" --csv > agents.csv
    """
    from collector import query as queries
    from collector.terminal import Progress

    if csv and json:
        raise UsageError("--csv or --json, not both")
    progress = Progress()

    def on_wait(text: str) -> None:
        progress(0, 0, text)

    try:
        if query is None:
            marts = queries.list_marts(warehouse, on_wait=on_wait)
            progress.clear()
            _print_marts(marts, as_json=json)
            return
        text = sys.stdin.read() if query == "-" else query
        table = queries.run_query(warehouse, text, on_wait=on_wait)
    finally:
        progress.clear()
    if json:
        _print_json(queries.as_records(table))
    else:
        typer.echo(queries.as_csv(table) if csv else queries.as_grid(table), nl=not csv)


def _print_marts(marts: list[Mart], *, as_json: bool) -> None:
    if as_json:
        _print_json([asdict(mart) for mart in marts])
        return
    for mart in marts:
        typer.echo(f"{mart.name}: {mart.description}")
        width = max(len(column["name"]) for column in mart.columns)
        for column in mart.columns:
            typer.echo(
                f"  {column['name']:{width}}  {column['type'].lower():9}  {column['meaning']}"
            )
        typer.echo()


def _print_json(data: object) -> None:
    import json

    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


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
