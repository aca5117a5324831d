"""Run read-only queries on a warehouse, and write their results as CSV or JSON."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from collector.errors import FileError, UsageError
from collector.suggestions import unknown_name
from collector.warehouse.access import LOCK_TIMEOUT_S, OFFLINE, check_warehouse, open_with_lock
from collector.warehouse.result_box import Preview

MARTS = """
with

marts as (
    select table_name as name, table_oid as oid, comment
    from duckdb_tables()
    where schema_name = 'main'
    union all
    select view_name, view_oid, comment
    from duckdb_views()
    where schema_name = 'main' and not internal
)

select
    marts.name,
    coalesce(marts.comment, ''),
    list({
        name: columns.column_name, type: columns.data_type, meaning: coalesce(columns.comment, '')
    } order by columns.column_index)
from marts
inner join duckdb_columns() as columns on marts.oid = columns.table_oid
group by all
order by marts.name
"""
FETCHED_ROWS = 2048


@dataclass(frozen=True)
class QueryResult:
    """The columns and rows that a query returned."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Mart:
    """A mart with its description and its columns."""

    name: str
    description: str
    columns: list[dict[str, str]]


def run_query(path: Path, query: str, *, on_wait: Callable[[str], None]) -> QueryResult:
    """Run a query that can neither change the warehouse nor read or write other files."""
    with _execute(path, query, on_wait) as result:
        return QueryResult([column[0] for column in result.description or ()], result.fetchall())


def preview_query(
    path: Path, query: str, *, on_wait: Callable[[str], None], most_rows: int | None
) -> Preview:
    """Run a query, and keep only the first and the last rows of a long result."""
    with _execute(path, query, on_wait) as result:
        names = [column[0] for column in result.description or ()]
        types = [str(column[1]).lower() for column in result.description or ()]
        if most_rows is None:
            rows = result.fetchall()
            return Preview(names, types, rows, [], len(rows))
        head = result.fetchmany(most_rows - most_rows // 2)
        tail = deque[tuple[Any, ...]](maxlen=most_rows // 2)
        count = len(head)
        while chunk := result.fetchmany(FETCHED_ROWS):
            tail.extend(chunk)
            count += len(chunk)
    return Preview(names, types, head, list(tail), count)


@contextlib.contextmanager
def _execute(
    path: Path, query: str, on_wait: Callable[[str], None]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give the result of a query; raise UsageError if it fails or has none."""
    with open_read_only(path, on_wait=on_wait) as connection:
        try:
            _refuse_changes(connection.extract_statements(query))
            result = connection.execute(query)
            # an empty query returns None
            if not result or not result.description:
                raise UsageError("the query has no result: write one that begins with select")
            yield result
        except duckdb.Error as error:
            raise UsageError(f"{error}{_hint(error)}") from error


def list_marts(path: Path, *, on_wait: Callable[[str], None]) -> list[Mart]:
    """Return the marts of a warehouse with the descriptions of their columns."""
    with open_read_only(path, on_wait=on_wait) as connection:
        marts = [Mart(*row) for row in connection.execute(MARTS).fetchall()]
    if not marts:
        raise FileError(f"no marts in {path} yet\n  what to do: fill it with `spotter profile`")
    return marts


def find_mart(marts: Sequence[Mart], name: str) -> Mart:
    """Return the mart of a name; raise UsageError if there is none."""
    for mart in marts:
        if mart.name == name:
            return mart
    raise UsageError(unknown_name(name, [mart.name for mart in marts]))


def open_read_only(
    path: Path,
    *,
    on_wait: Callable[[str], None],
    timeout_s: float = LOCK_TIMEOUT_S,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse read-only, so that queries cannot read or write any other file."""
    require_warehouse(path)
    # queries cannot spill to the disk, because they have no access to files
    config = {**OFFLINE, "temp_directory": ""}
    config |= {"memory_limit": memory_limit} if memory_limit else {}
    config |= {"threads": threads} if threads else {}
    connection = open_with_lock(
        lambda: duckdb.connect(str(path), read_only=True, config=config),
        path,
        on_wait=on_wait,
        timeout_s=timeout_s,
    )
    _restrict(connection)
    return connection


def require_warehouse(path: Path) -> None:
    """Raise an error unless a DuckDB file is at the path."""
    if not path.exists():
        raise FileError(
            f"no warehouse at {path}\n"
            "  what to do: create it with `spotter profile`, or name another with --warehouse"
        )
    check_warehouse(path)


def _restrict(connection: duckdb.DuckDBPyConnection) -> None:
    """Forbid files and changes of settings; connections of one process share these settings."""
    if connection.execute("select current_setting('lock_configuration')").fetchone() == (True,):
        return
    # enable_external_access would still let a query overwrite the warehouse file itself
    connection.execute("set disabled_filesystems = 'LocalFileSystem'")
    connection.execute("set enable_progress_bar = false")  # DuckDB would draw it on stdout
    connection.execute("set lock_configuration = true")


def _hint(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.PermissionException):
        return "\n  a query can read only the marts of the warehouse, and no other file"
    if isinstance(error, duckdb.CatalogException):
        return "\n  what to do: list the marts with `spotter sql`"
    if isinstance(error, duckdb.BinderException):
        return "\n  what to do: list the columns of a mart with `spotter sql --describe MART`"
    return ""


def _refuse_changes(statements: list[duckdb.Statement]) -> None:
    for statement in statements:
        if statement.type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            raise UsageError(f"only queries are allowed, not {statement.type.name.lower()}")


def as_csv(result: QueryResult) -> str:
    """Return a result as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(result.rows)
    return out.getvalue()


def as_records(result: QueryResult) -> list[dict[str, Any]]:
    """Return a result as objects that JSON can hold."""
    repeated = sorted({name for name in result.columns if result.columns.count(name) > 1})
    if repeated:
        raise UsageError(
            f"several columns are called {', '.join(repeated)}: give each its own name with `as`"
        )
    return [
        {name: _plain(value) for name, value in zip(result.columns, row, strict=True)}
        for row in result.rows
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
