"""Write the tables of a snapshot as Parquet, CSV and JSON lines: DuckDB streams them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import duckdb

from collector.errors import UsageError
from collector.exporting.snapshot import SNAPSHOT, relation
from collector.exporting.tables import Table, kind_of
from collector.profiling.manifest import Column
from collector.spreadsheets import guarded_sql
from collector.terminal import label
from collector.warehouse.sql import literal, quoted

NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
NAME_BYTES = 255
PARQUET_BYTES = 64 << 20
TIMES = "timestampformat '%Y-%m-%dT%H:%M:%S.%fZ'"


@dataclass(frozen=True)
class Kind:
    """A kind of files: how a column is read, what a table is called, how DuckDB writes it."""

    select: Callable[[Column], str]
    place: Callable[[str], str]
    options: Callable[[Table], str]


def _as_parquet(column: Column) -> str:
    """Mark times as UTC: without a zone, Parquet's times are those of any place."""
    name = quoted(column.name)
    return f"timezone('UTC', {name}) as {name}" if kind_of(column) == "datetime" else name


def _parquet_options(table: Table) -> str:
    return f"format parquet, row_group_size {table.group_rows(PARQUET_BYTES)}"


def _as_csv(column: Column) -> str:
    name = quoted(column.name)
    return f"{guarded_sql(name)} as {name}" if kind_of(column) == "string" else name


def _csv_options(table: Table) -> str:
    """Quote every text, so that no other separator cuts it."""
    texts = ", ".join(quoted(one.name) for one in table.columns if kind_of(one) == "string")
    return f"format csv, header, {TIMES}, force_quote ({texts})"


KINDS = {
    "parquet": Kind(_as_parquet, lambda name: f"{name}/part-0.parquet", _parquet_options),
    "csv": Kind(_as_csv, lambda name: f"{name}.csv", _csv_options),
    "jsonl": Kind(
        lambda column: quoted(column.name),
        lambda name: f"{name}.jsonl",
        lambda _: f"format json, {TIMES}",
    ),
}


def write_table(
    connection: duckdb.DuckDBPyConnection, table: Table, kind: Kind, folder: Path
) -> str:
    """Write a table into a folder; return its path there."""
    place = kind.place(table.name)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    _copy(connection, table, kind, folder / place, kind.options(table))
    return place


def write_partitions(connection: duckdb.DuckDBPyConnection, table: Table, folder: Path) -> str:
    """Write a table as Parquet with a folder a run; the run is in the folder's name alone."""
    if not table.row_count:  # without a run there is no folder for it
        return write_table(connection, table, KINDS["parquet"], folder)
    options = f"{_parquet_options(table)}, partition_by (run_id), filename_pattern 'part-{{i}}'"
    (folder / table.name).mkdir()
    _copy(connection, table, KINDS["parquet"], folder / table.name, options)
    return f"{table.name}/run_id=*/*.parquet"


def _copy(
    connection: duckdb.DuckDBPyConnection, table: Table, kind: Kind, target: Path, options: str
) -> None:
    columns = ", ".join(kind.select(column) for column in table.columns)
    # each thread holds some groups of rows as text
    connection.execute("set threads = 1" if table.is_wide else "reset threads")
    connection.execute(
        f"copy (select {columns} from {relation(table.name)}) to {literal(target)} ({options})"
    )


def check_partitions(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse runs whose names cannot be those of folders."""
    tables = connection.execute(
        f"select table_name from duckdb_tables() where database_name = '{SNAPSHOT}'"
    ).fetchall()
    for (name,) in tables:
        runs = connection.execute(f"select distinct run_id from {relation(name)}").fetchall()
        for (run,) in runs:
            if run == NO_PARTITION or len(f"run_id={quote(run, safe='')}") > NAME_BYTES:
                raise UsageError(
                    f"--partition-by-run: the name of the run {label(run)} is too long for a"
                    " folder, or means something else there\n  what to do: export without it"
                )
