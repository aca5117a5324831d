"""Copy marts into a DuckDB file of their own, which everything else is made from.

The warehouse is held only while it is copied, so that the next profile can go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.choices import unknown
from collector.errors import FileError, UsageError
from collector.exporting.progress import Bar
from collector.exporting.tables import Table
from collector.profiling.plan import WAREHOUSE, Model
from collector.profiling.warehouse import (
    attach,
    describe_table,
    known_columns,
    literal,
    quoted,
    with_lock,
)

SNAPSHOT = "snapshot"
# readable by every DuckDB from 1.0 on: the drivers of BI tools bundle older ones
STORAGE_VERSION = "v1.0.0"


@dataclass(frozen=True)
class Source:
    """Which marts of a warehouse to copy, and which of its runs; none named means all."""

    warehouse: Path
    models: Sequence[Model]
    runs: Sequence[str]


def copy_marts(
    connection: duckdb.DuckDBPyConnection, source: Source, target: Path, *, bar: Bar
) -> list[Table]:
    """Copy the rows of the wanted runs, in the order of their keys."""
    with_lock(
        lambda: attach(connection, source.warehouse, is_read_only=True),
        source.warehouse,
        on_wait=bar.wait,
    )
    try:
        _check(connection, source)
        connection.execute(f"set variable runs = {_list(source.runs)}")
        tables = [Table(model, _row_count(connection, model)) for model in source.models]
        bar.plan(sum(table.row_count for table in tables))
        connection.execute(
            f"attach {literal(target)} as {SNAPSHOT}"
            f" (type duckdb, storage_version '{STORAGE_VERSION}')"
        )
        for table in tables:
            with bar.step(f"copying {table.name}", table.row_count, connection):
                _copy(connection, table.model)
        connection.execute(f"checkpoint {SNAPSHOT}")
    finally:
        connection.execute(f"detach {WAREHOUSE}")
    return tables


def relation(name: str) -> str:
    """Return a table of the snapshot as SQL knows it."""
    return f"{SNAPSHOT}.main.{quoted(name)}"


def _check(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    path, known = source.warehouse, known_columns(connection)
    if "runs" not in known:
        raise FileError(f"no marts in {path} yet\n  what to do: fill it with `spotter profile`")
    missing = [
        f"{model.name}.{column.name}"
        for model in source.models
        for column in model.columns
        if column.name not in known.get(model.name, ())
    ]
    if missing:
        more = f" and {len(missing) - 3} more columns" if len(missing) > 3 else ""
        raise FileError(
            f"{path} was filled by an older version: it has no {', '.join(missing[:3])}{more}\n"
            "  what to do: profile its runs again with `spotter profile`"
        )
    rows = connection.execute(f"select run_id from {WAREHOUSE}.main.runs order by all").fetchall()
    ids = [row[0] for row in rows]
    for run in source.runs:
        if run not in ids:
            raise UsageError(f"--run {unknown(run, ids)}")


def _copy(connection: duckdb.DuckDBPyConnection, model: Model) -> None:
    place = relation(model.name)
    columns = ", ".join(f"{quoted(column.name)} {column.data_type}" for column in model.columns)
    names = ", ".join(quoted(column.name) for column in model.columns)
    order = ", ".join(quoted(name) for name in model.key)
    connection.execute(f"create table {place} ({columns})")
    connection.execute(f"insert into {place} select {names} from {_source(model)} order by {order}")
    describe_table(connection, model, place)


def _row_count(connection: duckdb.DuckDBPyConnection, model: Model) -> int:
    found = connection.execute(f"select count(*) from {_source(model)}").fetchone()
    assert found is not None
    return int(found[0])


def _source(model: Model) -> str:
    return (
        f"(from {WAREHOUSE}.main.{quoted(model.name)}"
        " where getvariable('runs') is null or list_contains(getvariable('runs'), run_id))"
    )


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(literal(text) for text in texts)}]" if texts else "null::varchar[]"
