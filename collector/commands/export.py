"""`spotter export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.overrides import FLAG_ONLY, Named

if TYPE_CHECKING:
    from collector.exporting.export import Exported
    from collector.terminal.blocks import Block


def export(
    *,
    output_dir: Annotated[
        Path,
        typer.Option("--output-dir", "-o", readable=False, help="The folder to write to."),
    ] = Path("exports"),
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            help="parquet, csv, jsonl, xlsx, or snapshot for that alone; may be repeated."
            "  [default: parquet]",
        ),
        Named("format"),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option("--select", "-s", help="A mart to export; may be repeated.  [default: all]"),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", "-r", help="A run to export; may be repeated.  [default: all]"),
    ] = None,
    partition_by_run: Annotated[
        bool, typer.Option("--partition-by-run", help="Parquet with a folder a run in each mart.")
    ] = False,
    no_snapshot: Annotated[
        bool, typer.Option("--no-snapshot", help="Write no snapshot.duckdb.")
    ] = False,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    memory_limit: Annotated[
        str | None,
        typer.Option(
            help="Memory for DuckDB, like 500MB; what does not fit is put aside on the disk."
            "  [default: 2GiB, or half of the machine's]"
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Export the marts for other tools: files, and a snapshot that dashboards can keep open.

    Each format appears whole or not at all, and replaces the one before it. The snapshot is a
    read-only DuckDB file that DuckDB 1.0 and later can read.

    \b
    spotter export                             # Parquet and a snapshot in exports/
    spotter export -f csv -f xlsx -o results/export
    spotter export --select task_profiles --run demo --partition-by-run
    """
    from collector.exporting.export import export as export_marts
    from collector.exporting.tables import Wanted
    from collector.terminal import say, show

    wanted = Wanted(
        formats=tuple(formats or ["parquet"]),
        marts=tuple(select or ()),
        runs=tuple(run or ()),
        is_partitioned=partition_by_run,
        has_snapshot=not no_snapshot,
    )
    exported = export_marts(warehouse, output_dir, wanted, memory_limit=memory_limit)
    if json:
        print_json(_as_data(exported))
    else:
        show(_as_blocks(exported))
    for warning in exported.warnings:
        say(f"warning: {warning}")


def _as_data(exported: Exported) -> dict[str, object]:
    return {
        "output_dir": str(exported.output),
        "files": {name: str(place) for name, place in exported.places.items()},
        "tables": {table.name: table.row_count for table in exported.tables},
        "warnings": exported.warnings,
    }


def _as_blocks(exported: Exported) -> list[Block]:
    from collector.terminal import counted_noun
    from collector.terminal.blocks import Fact, Line, Styled

    rows = sum(table.row_count for table in exported.tables)
    counts = f"{counted_noun(len(exported.tables), 'table')}, {counted_noun(rows, 'row')}"
    width = max(len(name) for name in exported.places) + 2
    return [
        Line(Styled(counts, "value")),
        *(Fact(name, str(place), indent=2, width=width) for name, place in exported.places.items()),
    ]
