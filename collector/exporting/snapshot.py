"""Copy marts into a DuckDB file of their own, which everything else is made from.

The warehouse is held only while it is copied, so that the next profile can go on meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.errors import FileError, UsageError
from collector.exporting.progress import Bar
from collector.exporting.tables import Table
from collector.profiling.manifest import Model
from collector.profiling.marts import comments
from collector.suggestions import unknown_name
from collector.warehouse.access import WAREHOUSE, attach, with_lock
from collector.warehouse.sql import known_columns, literal, quoted

SNAPSHOT = "snapshot"
# readable by every DuckDB from 1.0 on: the drivers of BI tools bundle older ones
STORAGE_VERSION = "v1.0.0"
# DuckDB writes files group by group of rows, and sorts a piece as a whole: both must fit into
# memory, however long the texts in a row are
GROUP_BYTES = 16 << 20
PIECE_BYTES = 32 << 20


@dataclass(frozen=True)
class Source:
    """Which marts of a warehouse to copy, and which of its runs; none named means all."""

    warehouse: Path
    models: Sequence[Model]
    runs: Sequence[str]


@dataclass(frozen=True)
class _Piece:
    """Some tasks of a run."""

    run_id: str
    first: int
    last: int
    row_count: int


def copy_marts(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    target: Path,
    *,
    check: Callable[[Sequence[Table]], None],
    bar: Bar,
) -> list[Table]:
    """Copy the rows of the wanted runs, in the order of their keys; `check` may refuse them."""
    with_lock(
        lambda: attach(connection, source.warehouse, is_read_only=True),
        source.warehouse,
        on_wait=bar.wait,
    )
    try:
        _check(connection, source)
        connection.execute(f"set variable runs = {_list(source.runs)}")
        tables = [_measured(connection, model) for model in source.models]
        check(tables)
        bar.plan(sum(table.row_count for table in tables))
        rows = min(table.group_rows(GROUP_BYTES) for table in tables)
        connection.execute(
            f"attach {literal(target)} as {SNAPSHOT}"
            f" (type duckdb, storage_version '{STORAGE_VERSION}', row_group_size {rows})"
        )
        for table in tables:
            _copy(connection, table, bar)
        connection.execute(f"checkpoint {SNAPSHOT}")
    finally:
        connection.execute(f"detach {WAREHOUSE}")
    return tables


def relation(name: str) -> str:
    """Return a table of the snapshot as SQL knows it."""
    return f"{SNAPSHOT}.main.{quoted(name)}"


def _check(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    path, known = source.warehouse, known_columns(connection, WAREHOUSE)
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
            raise UsageError(f"--run {unknown_name(run, ids)}")


def _copy(connection: duckdb.DuckDBPyConnection, table: Table, bar: Bar) -> None:
    model, place = table.model, relation(table.name)
    columns = ", ".join(f"{quoted(column.name)} {column.data_type}" for column in model.columns)
    names = ", ".join(quoted(column.name) for column in model.columns)
    order = ", ".join(quoted(name) for name in model.key)
    connection.execute(f"create table {place} ({columns})")
    label = f"copying {table.name}"
    pieces = _pieces(connection, table)
    # each thread holds rows that it sorts and writes
    connection.execute("set threads = 1" if pieces else "reset threads")
    with (
        bar.step(label, table.row_count, None if pieces else connection),
        _transaction(connection),
    ):
        insert = f"insert into {place} select {names} from {_source(model)}"
        if not pieces:
            connection.execute(f"{insert} order by {order}")
        done = 0
        for piece in pieces:
            where = "where run_id = $run and task_index between $first and $last"
            values = {"run": piece.run_id, "first": piece.first, "last": piece.last}
            connection.execute(f"{insert} {where} order by {order}", values)
            done += piece.row_count
            bar.show(label, done)
    for comment in comments(model, place):
        connection.execute(comment)


@contextlib.contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Write in one go, or let the first error be the one that is told."""
    connection.execute("begin transaction")
    try:
        yield
    except BaseException:
        with contextlib.suppress(duckdb.Error):
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _pieces(connection: duckdb.DuckDBPyConnection, table: Table) -> list[_Piece]:
    """Cut a table of long rows into tasks that follow on each other; others are sorted at once."""
    rows = PIECE_BYTES // table.row_bytes + 1
    is_large = table.is_wide and table.row_count > rows
    if not is_large or "task_index" not in table.model.key:
        return []
    found = connection.execute(
        f"""
        select run_id, min(task_index), max(task_index), count(*)
        from (
            select
                run_id,
                task_index,
                (rank() over (partition by run_id order by task_index) - 1) // {rows} as piece
            from {_source(table.model)}
        )
        group by run_id, piece
        order by run_id, piece
        """
    ).fetchall()
    return [_Piece(*row) for row in found]


def _measured(connection: duckdb.DuckDBPyConnection, model: Model) -> Table:
    """Count the rows, and how many bytes the longest rows of a run have on average."""
    texts = [quoted(column.name) for column in model.columns if column.data_type == "varchar"]
    width = " + ".join([str(8 * len(model.columns)), *(f"coalesce(strlen({t}), 0)" for t in texts)])
    found = connection.execute(
        f"""
        select coalesce(sum(row_count), 0)::bigint, coalesce(max(row_bytes), 1)::bigint
        from (
            select run_id, count(*) as row_count, avg({width}) as row_bytes
            from {_source(model)}
            group by run_id
        )
        """
    ).fetchone()
    assert found is not None
    return Table(model, row_count=found[0], row_bytes=found[1])


def _source(model: Model) -> str:
    return (
        f"(from {WAREHOUSE}.main.{quoted(model.name)}"
        " where getvariable('runs') is null or list_contains(getvariable('runs'), run_id))"
    )


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(literal(text) for text in texts)}]" if texts else "null::varchar[]"
