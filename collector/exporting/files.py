"""Write the marts of a snapshot as Parquet, CSV and JSON lines, which DuckDB streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import duckdb

from collector.errors import UsageError
from collector.exporting.snapshot import SNAPSHOT, relation
from collector.exporting.tables import MartTable, column_type
from collector.profiling.manifest import ModelColumn
from collector.spreadsheets import guard_formula_sql
from collector.terminal import label
from collector.warehouse.sql import literal, quote_name

NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
NAME_BYTES = 255
PARQUET_BYTES = 64 << 20
TIMES = "timestampformat '%Y-%m-%dT%H:%M:%S.%fZ'"


@dataclass(frozen=True)
class FileFormat:
    """How to select a column, name the file of a mart, and have DuckDB write the file."""

    select: Callable[[ModelColumn], str]
    file_name: Callable[[str], str]
    options: Callable[[MartTable], str]


def _as_parquet(column: ModelColumn) -> str:
    """Mark times as UTC: a Parquet time without a zone could be of any time zone."""
    name = quote_name(column.name)
    return f"timezone('UTC', {name}) as {name}" if column_type(column) == "datetime" else name


def _parquet_options(table: MartTable) -> str:
    return f"format parquet, row_group_size {table.group_rows(PARQUET_BYTES)}"


def _as_csv(column: ModelColumn) -> str:
    name = quote_name(column.name)
    return f"{guard_formula_sql(name)} as {name}" if column_type(column) == "string" else name


def _csv_options(table: MartTable) -> str:
    """Quote every text, so that a reader with another separator does not split it."""
    texts = ", ".join(quote_name(one.name) for one in table.columns if column_type(one) == "string")
    return f"format csv, header, {TIMES}, force_quote ({texts})"


FILE_FORMATS = {
    "parquet": FileFormat(_as_parquet, lambda name: f"{name}/part-0.parquet", _parquet_options),
    "csv": FileFormat(_as_csv, lambda name: f"{name}.csv", _csv_options),
    "jsonl": FileFormat(
        lambda column: quote_name(column.name),
        lambda name: f"{name}.jsonl",
        lambda _: f"format json, {TIMES}",
    ),
}


def write_table(
    connection: duckdb.DuckDBPyConnection, table: MartTable, file_format: FileFormat, folder: Path
) -> str:
    """Write a mart into a folder; return the path of its file in the folder."""
    name = file_format.file_name(table.name)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    _copy(connection, table, file_format, folder / name, file_format.options(table))
    return name


def write_partitions(connection: duckdb.DuckDBPyConnection, table: MartTable, folder: Path) -> str:
    """Write a mart as Parquet with one folder per run; return a glob of the files.

    The column run_id is in the names of the folders, not in the files.
    """
    if not table.row_count:  # without rows DuckDB would write no file
        return write_table(connection, table, FILE_FORMATS["parquet"], folder)
    options = f"{_parquet_options(table)}, partition_by (run_id), filename_pattern 'part-{{i}}'"
    (folder / table.name).mkdir()
    _copy(connection, table, FILE_FORMATS["parquet"], folder / table.name, options)
    return f"{table.name}/run_id=*/*.parquet"


def _copy(
    connection: duckdb.DuckDBPyConnection,
    table: MartTable,
    file_format: FileFormat,
    target: Path,
    options: str,
) -> None:
    columns = ", ".join(file_format.select(column) for column in table.columns)
    # each thread holds several row groups as text: one thread needs the least memory
    connection.execute("set threads = 1" if table.is_wide else "reset threads")
    connection.execute(
        f"copy (select {columns} from {relation(table.name)}) to {literal(target)} ({options})"
    )


def check_partitions(connection: duckdb.DuckDBPyConnection) -> None:
    """Raise UsageError if the name of a run cannot be part of a folder's name."""
    tables = connection.execute(
        f"select table_name from duckdb_tables() where database_name = '{SNAPSHOT}'"
    ).fetchall()
    for (name,) in tables:
        runs = connection.execute(f"select distinct run_id from {relation(name)}").fetchall()
        for (run,) in runs:
            if run == NO_PARTITION or len(f"run_id={quote(run, safe='')}") > NAME_BYTES:
                raise UsageError(
                    f"the run {label(run)} cannot have a folder: the name is too long or has a"
                    " special meaning\n"
                    "  what to do: export without --partition-by-run and --format atif"
                )
