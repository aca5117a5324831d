"""Copy marts into a snapshot, a separate DuckDB file from which the other files are written.

The warehouse is locked only while its marts are copied, so that the next profile need not wait.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.errors import FileError
from collector.exporting.progress import Bar
from collector.exporting.tables import MartTable
from collector.profiling.known_runs import stored_run_ids
from collector.profiling.manifest import CompiledModel
from collector.profiling.marts import check_marts, comments
from collector.warehouse.access import WAREHOUSE, attach, open_with_lock
from collector.warehouse.sql import fetch_rows, known_columns, literal, quote_name

SNAPSHOT = "snapshot"
# every DuckDB from 1.0 on can read it: the drivers of BI tools bundle older versions
STORAGE_VERSION = "v1.0.0"
# DuckDB holds a whole row group when it writes, and a whole range when it sorts: both must fit
# into memory, even if the rows contain long texts
GROUP_BYTES = 16 << 20
RANGE_BYTES = 32 << 20


@dataclass(frozen=True)
class MartSelection:
    """The marts and the runs of a warehouse to copy, by id or path; no runs means all runs."""

    warehouse: Path
    models: Sequence[CompiledModel]
    runs: Sequence[str]


@dataclass(frozen=True)
class _TaskRange:
    """A range of the tasks of a run, with the number of their rows."""

    run_id: str
    first: int
    last: int
    row_count: int


def copy_marts(
    connection: duckdb.DuckDBPyConnection,
    selection: MartSelection,
    target: Path,
    *,
    check: Callable[[Sequence[MartTable]], None],
    bar: Bar,
) -> list[MartTable]:
    """Copy the selected rows in the order of their keys; `check` may raise before the copy."""
    open_with_lock(
        lambda: attach(connection, selection.warehouse, is_read_only=True),
        selection.warehouse,
        on_wait=bar.wait,
    )
    try:
        run_ids = _selected_runs(connection, selection)
        connection.execute(f"set variable runs = {_list(run_ids)}")
        tables = [_measure(connection, model) for model in selection.models]
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
    """Return the SQL name of a table of the snapshot."""
    return f"{SNAPSHOT}.main.{quote_name(name)}"


def _selected_runs(connection: duckdb.DuckDBPyConnection, selection: MartSelection) -> list[str]:
    """Return the ids of the runs; raise an error if the warehouse lacks one, or has no marts."""
    path, known = selection.warehouse, known_columns(connection, WAREHOUSE)
    if "runs" not in known:
        raise FileError(f"no marts in {path} yet\n  what to do: fill it with `spotter profile`")
    check_marts(connection, path, database=WAREHOUSE)
    rows = fetch_rows(connection, f"select * from {WAREHOUSE}.main.runs order by run_id")
    return stored_run_ids(selection.runs, rows)


def _copy(connection: duckdb.DuckDBPyConnection, table: MartTable, bar: Bar) -> None:
    model, target = table.model, relation(table.name)
    columns = ", ".join(f"{quote_name(column.name)} {column.data_type}" for column in model.columns)
    names = ", ".join(quote_name(column.name) for column in model.columns)
    order = ", ".join(quote_name(name) for name in model.key)
    connection.execute(f"create table {target} ({columns})")
    label = f"copying {table.name}"
    ranges = _task_ranges(connection, table)
    # each thread holds the rows that it sorts and writes: one thread needs the least memory
    connection.execute("set threads = 1" if ranges else "reset threads")
    with (
        bar.step(label, table.row_count, None if ranges else connection),
        _transaction(connection),
    ):
        insert = f"insert into {target} select {names} from {_selected_rows(model)}"
        if not ranges:
            connection.execute(f"{insert} order by {order}")
        done = 0
        for tasks in ranges:
            where = "where run_id = $run and task_index between $first and $last"
            values = {"run": tasks.run_id, "first": tasks.first, "last": tasks.last}
            connection.execute(f"{insert} {where} order by {order}", values)
            done += tasks.row_count
            bar.show(label, done)
    for comment in comments(model, target):
        connection.execute(comment)


@contextlib.contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run the block in a transaction; raise its error even if the rollback fails too."""
    connection.execute("begin transaction")
    try:
        yield
    except BaseException:
        with contextlib.suppress(duckdb.Error):
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _task_ranges(connection: duckdb.DuckDBPyConnection, table: MartTable) -> list[_TaskRange]:
    """Split a mart with large rows into task ranges; return none if it is sorted whole."""
    rows = RANGE_BYTES // table.row_bytes + 1
    is_large = table.is_wide and table.row_count > rows
    if not is_large or "task_index" not in table.model.key:
        return []
    ranges = connection.execute(
        f"""
        select run_id, min(task_index), max(task_index), count(*)
        from (
            select
                run_id,
                task_index,
                (rank() over (partition by run_id order by task_index) - 1) // {rows} as part
            from {_selected_rows(table.model)}
        )
        group by run_id, part
        order by run_id, part
        """
    ).fetchall()
    return [_TaskRange(*row) for row in ranges]


def _measure(connection: duckdb.DuckDBPyConnection, model: CompiledModel) -> MartTable:
    """Count the rows, and estimate their size: the average of the run with the largest rows."""
    texts = [quote_name(column.name) for column in model.columns if column.data_type == "varchar"]
    width = " + ".join([str(8 * len(model.columns)), *(f"coalesce(strlen({t}), 0)" for t in texts)])
    sizes = connection.execute(
        f"""
        select coalesce(sum(row_count), 0)::bigint, coalesce(max(row_bytes), 1)::bigint
        from (
            select run_id, count(*) as row_count, avg({width}) as row_bytes
            from {_selected_rows(model)}
            group by run_id
        )
        """
    ).fetchone()
    assert sizes is not None
    return MartTable(model, row_count=sizes[0], row_bytes=sizes[1])


def _selected_rows(model: CompiledModel) -> str:
    return (
        f"(from {WAREHOUSE}.main.{quote_name(model.name)}"
        " where getvariable('runs') is null or list_contains(getvariable('runs'), run_id))"
    )


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(literal(text) for text in texts)}]" if texts else "null::varchar[]"
