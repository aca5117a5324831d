"""Read a folder with the marts as Parquet files, as Spark writes them, also in an object store."""

from __future__ import annotations

from pathlib import Path

import duckdb

from collector.errors import FileError
from collector.profiling.manifest import CompiledModel
from collector.profiling.plan import load_plan
from collector.warehouse.sql import literal, quote_name

# ids are texts, also those that look like numbers
PARTITIONS = "{'run_id': varchar}"


def check_folder(path: Path) -> None:
    """Raise FileError if a folder has no marts."""
    if not any((path / "runs").glob("*/*.parquet")):
        raise FileError(
            f"{path} is a folder without marts: it has no runs/run_id=…/*.parquet\n"
            "  what to do: name a warehouse, or the folder that a build on Spark filled"
        )


def attach_folder(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a database with a view of every mart in the folder; a mart without files is empty."""
    connection.execute(f"attach ':memory:' as {name}")
    for model in load_plan().batch("marts"):
        relation = f"{name}.main.{quote_name(model.name)}"
        parts = sorted((path / model.name).rglob("*.parquet"))
        if not parts:
            columns = ", ".join(
                f"{quote_name(column.name)} {column.data_type}" for column in model.columns
            )
            connection.execute(f"create table {relation} ({columns})")
            continue
        files = (
            f"read_parquet([{', '.join(map(literal, parts))}],"
            f" hive_partitioning = true, hive_types = {PARTITIONS}, union_by_name = true)"
        )
        _check_columns(connection, model, files, path)
        columns = ", ".join(
            f"cast({quote_name(column.name)} as {column.data_type}) as {quote_name(column.name)}"
            for column in model.columns
        )
        connection.execute(f"create view {relation} as select {columns} from {files}")


def _check_columns(
    connection: duckdb.DuckDBPyConnection, model: CompiledModel, files: str, path: Path
) -> None:
    found = {row[0] for row in connection.execute(f"describe from {files}").fetchall()}
    missing = [column.name for column in model.columns if column.name not in found]
    if missing:
        raise FileError(
            f"{path} was filled by another version: {model.name} has no {', '.join(missing[:3])}\n"
            "  what to do: build its runs again with this version"
        )
