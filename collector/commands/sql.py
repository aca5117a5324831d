"""`spotter sql`."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY

if TYPE_CHECKING:
    from collector.warehouse.queries import Mart
    from collector.warehouse.result_box import Preview

MOST_ROWS = 40


def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="The query, or `-` to read it from standard input; without a query, list the"
            " marts.",
        ),
    ] = None,
    *,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    describe: Annotated[
        str | None,
        typer.Option(metavar="MART", help="List the columns of a mart, with what they mean."),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option("--all", help=f"Show all rows of a long result, not only {MOST_ROWS}."),
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of a table."), FLAG_ONLY
    ] = False,
) -> None:
    """Query the warehouse, read-only.

    Without a query, lists the marts; --describe lists the columns of one. Results are a box that
    fits the terminal, with rounded numbers; --csv and --json print everything as it is.

    \b
    spotter sql --describe task_profiles
    spotter sql "select task_index, reward_mean from task_profiles order by reward_mean limit 5"
    spotter sql "select * from agent_metrics" --csv > agents.csv
    """
    from collector.terminal import Progress
    from collector.warehouse import queries

    if csv and json:
        raise UsageError("--csv and --json contradict each other: use only one")
    if query is not None and describe is not None:
        raise UsageError("give either a query or --describe")
    progress = Progress()

    def on_wait(text: str) -> None:
        progress(0, 0, text)

    try:
        if query is None:
            marts = queries.list_marts(warehouse, on_wait=on_wait)
            progress.clear()
            if describe is None:
                _list_marts(marts, as_json=json)
            else:
                _describe_mart(queries.find_mart(marts, describe), as_json=json)
            return
        text = sys.stdin.read() if query == "-" else query
        if not (csv or json):
            most = None if show_all else MOST_ROWS
            preview = queries.preview_query(warehouse, text, on_wait=on_wait, most_rows=most)
            progress.clear()
            show_preview(preview)
            return
        result = queries.run_query(warehouse, text, on_wait=on_wait)
    finally:
        progress.clear()
    if json:
        print_json(queries.as_records(result))
    else:
        typer.echo(queries.as_csv(result), nl=False)


def show_preview(preview: Preview) -> None:
    """Print a result; a terminal that is too low gets a pager, if there is one."""
    from collector.terminal.streams import column_count, is_terminal, write_output
    from collector.warehouse.result_box import draw_box

    if not is_terminal(sys.stdout):
        write_output(draw_box(preview, columns=None))
        return
    text = draw_box(preview, columns=column_count(sys.stdout))
    if text.count("\n") >= shutil.get_terminal_size().lines and is_terminal(sys.stdin):
        os.environ.setdefault("LESS", "-FRSX")  # less: leave the text on the screen, cut no line
        pydoc.pager(text)
    else:
        write_output(text)


def _list_marts(marts: list[Mart], *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": mart.name, "description": mart.description} for mart in marts])
        return
    from collector.terminal import show
    from collector.terminal.blocks import Line, TextColumn, TextTable

    rows = [(mart.name, mart.description.partition(". ")[0].rstrip(".")) for mart in marts]
    columns = (TextColumn(style="label"), TextColumn(overflow="wrap"))
    hint = Line("`spotter sql --describe MART` lists the columns of a mart")
    show([TextTable(columns, rows), Line(), hint])


def _describe_mart(mart: Mart, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(mart))
        return
    from collector.terminal import show
    from collector.terminal.blocks import Line, Styled, TextColumn, TextTable

    columns = (
        TextColumn(style="label"),
        TextColumn(width=9, style="quiet"),
        TextColumn(overflow="wrap"),
    )
    rows = [(one["name"], one["type"].lower(), one["meaning"]) for one in mart.columns]
    heading = Line((Styled(mart.name, "heading"), f": {mart.description}"))
    show([heading, TextTable(columns, rows, indent=2)])
