"""`spotter sql`."""

from __future__ import annotations

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
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of a table."), FLAG_ONLY
    ] = False,
) -> None:
    """Query the warehouse, read-only.

    Without a query, lists the marts and their columns.

    \b
    spotter sql "select task_index, reward_mean from task_profiles order by reward_mean limit 5"
    spotter sql "select * from agent_metrics" --csv > agents.csv
    """
    from collector.terminal import Progress, show
    from collector.warehouse import queries

    if csv and json:
        raise UsageError("--csv and --json contradict each other: use only one")
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
        result = queries.run_query(warehouse, text, on_wait=on_wait)
    finally:
        progress.clear()
    if json:
        print_json(queries.as_records(result))
    elif csv:
        typer.echo(queries.as_csv(result), nl=False)
    else:
        show(queries.as_blocks(result))


def _print_marts(marts: list[Mart], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(mart) for mart in marts])
        return
    from collector.terminal import show
    from collector.terminal.blocks import Line, Styled, TextColumn, TextTable

    columns = (
        TextColumn(style="label"),
        TextColumn(width=9, style="quiet"),
        TextColumn(overflow="wrap"),
    )
    for mart in marts:
        rows = [(one["name"], one["type"].lower(), one["meaning"]) for one in mart.columns]
        heading = Line((Styled(mart.name, "heading"), f": {mart.description}"))
        show([heading, TextTable(columns, rows, indent=2), Line()])
