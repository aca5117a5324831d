"""`spotter export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.overrides import FLAG_ONLY, OverrideName

if TYPE_CHECKING:
    from collector.exporting.export import ExportResult
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
            show_default="parquet",
            help="`parquet`, `csv`, `jsonl` or `xlsx`; `snapshot` writes only the snapshot. `atif`"
            " writes every rollout as a trajectory. May be repeated.",
        ),
        OverrideName("format"),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", "-s", show_default="all", help="A mart to export. May be repeated."
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run", "-r", show_default="all", help="A run, or its rollouts file. May be repeated."
        ),
    ] = None,
    partition_by_run: Annotated[
        bool,
        typer.Option(
            "--partition-by-run", help="Write Parquet with one folder per run in each mart."
        ),
    ] = False,
    no_snapshot: Annotated[
        bool, typer.Option("--no-snapshot", help="Do not write `snapshot.duckdb`.")
    ] = False,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    memory_limit: Annotated[
        str | None,
        typer.Option(
            show_default="2GiB, or half of the machine's memory if that is less",
            help="Memory for DuckDB, like `500MB`; DuckDB spills the rest to disk. Below about"
            " 300MB a large export may fail.",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Export the marts for other tools.

    Writes files, and a snapshot that dashboards can keep open. Each format is written completely or
    not at all, and replaces its previous export. The snapshot is a read-only DuckDB file that
    DuckDB 1.0 and later can read.

    \b
    spotter export                             # Parquet and a snapshot in exports/
    spotter export -f csv -f xlsx -o results/export
    spotter export --select task_profiles --run demo --partition-by-run
    spotter export -f atif --run demo          # a trajectory per rollout, for Harbor and others
    """
    from collector.exporting.export import export as export_marts
    from collector.exporting.tables import ExportRequest
    from collector.terminal import say, show

    request = ExportRequest(
        formats=tuple(formats or ["parquet"]),
        marts=tuple(select or ()),
        runs=tuple(run or ()),
        is_partitioned=partition_by_run,
        has_snapshot=not no_snapshot,
    )
    result = export_marts(warehouse, output_dir, request, memory_limit=memory_limit)
    if json:
        print_json(_as_data(result))
    else:
        show(_as_blocks(result))
    for warning in result.warnings:
        say(f"warning: {warning}")


def _as_data(result: ExportResult) -> dict[str, object]:
    return {
        "output_dir": str(result.output),
        "files": {name: str(path) for name, path in result.paths.items()},
        "tables": {table.name: table.row_count for table in result.tables},
        "warnings": result.warnings,
    }


def _as_blocks(result: ExportResult) -> list[Block]:
    from collector.terminal import counted_noun
    from collector.terminal.blocks import Fact, Line, Styled

    rows = sum(table.row_count for table in result.tables)
    counts = f"{counted_noun(len(result.tables), 'table')}, {counted_noun(rows, 'row')}"
    width = max(len(name) for name in result.paths) + 2
    return [
        Line(Styled(counts, "value")),
        *(Fact(name, str(path), indent=2, width=width) for name, path in result.paths.items()),
    ]
