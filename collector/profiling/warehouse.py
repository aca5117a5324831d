"""Write a batch into the warehouse file in one transaction: all marts change, or none does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from collector.errors import FileError, InvariantError, UsageError
from collector.profiling.plan import SCRATCH, WAREHOUSE, Column, Model, Plan

Row = dict[str, Any]
T = TypeVar("T")
LOCK_TIMEOUT_S = 300.0
MAGIC = b"DUCK"
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
BATCH_RUNS = f"select run_id from {SCRATCH}.staging.stg_runs"


@contextlib.contextmanager
def transaction(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Attach the warehouse, hold one transaction on it, and let go of the file in every case."""
    with_lock(lambda: attach(connection, path), path, on_wait=on_wait)
    try:
        connection.execute("begin transaction")
        try:
            yield
            connection.execute("commit")
        except BaseException:
            # a commit that failed has ended the transaction already
            with contextlib.suppress(duckdb.Error):
                connection.execute("rollback")
            raise
    finally:
        with contextlib.suppress(duckdb.Error):
            connection.execute(f"detach {WAREHOUSE}")


def attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attach a warehouse file under the name the compiled SQL knows it by."""
    quoted = str(path).replace("'", "''")
    connection.execute(f"attach '{quoted}' as {WAREHOUSE} (type duckdb)")


def check_warehouse(path: Path) -> None:
    """Refuse a path that DuckDB would misread, and a file that is something else."""
    if "?" in str(path.parent) or "\\" in str(path):
        raise UsageError(f"a warehouse cannot lie at {path}: DuckDB misreads ? and \\ in its path")
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"cannot open the warehouse {path}: {error.strerror}") from error
    if head and head[8:] != MAGIC:
        raise FileError(f"cannot open the warehouse {path}: it is no DuckDB file")


def with_lock(
    opening: Callable[[], T],
    path: Path,
    *,
    on_wait: Callable[[str], None],
    timeout_s: float = LOCK_TIMEOUT_S,
) -> T:
    """Open a warehouse, waiting while another process writes to it."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return opening()
        except duckdb.Error as error:
            if "Could not set lock" not in str(error):
                raise FileError(f"cannot open the warehouse {path}: {error}") from error
            if time.monotonic() > deadline:
                raise FileError(
                    f"the warehouse {path} is in use by another process ({error})\n"
                    "  what to do: wait until it is done, or close what holds the file open"
                ) from error
        on_wait(f"waiting for {path}: another process is using it")
        time.sleep(0.2)


def build_marts(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Replace the batch's rows in every mart, and refresh the export views."""
    connection.execute(f"create schema if not exists {WAREHOUSE}.exports")
    known = _known_columns(connection)
    for model in plan.layer("marts", "exports"):
        progress(model.name)
        if model.materialized == "incremental":
            _prepare_table(connection, model, known.get(model.name, set()))
            _replace_rows(connection, model)
        else:
            connection.execute(f"create or replace view {model.relation} as {model.sql}")


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, query: str, parameter: str | list[str]
) -> list[Row]:
    """Run a query with one parameter and return its rows by column."""
    result = connection.execute(query, [parameter])
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def run_checks(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Run the conservation tests on the batch; a violation rolls everything back."""
    for check in plan.checks:
        progress(check.name)
        rows = connection.execute(f"select * from ({check.sql}) limit 10").fetchall()
        if rows:
            raise InvariantError(
                f"the profile contradicts itself ({check.name}): {rows}\n"
                "  this is a defect of Spotter, please report it; nothing was written"
            )


def _replace_rows(connection: duckdb.DuckDBPyConnection, model: Model) -> None:
    connection.execute(f"delete from {model.relation} where run_id in ({BATCH_RUNS})")
    names = ", ".join(_quoted(column.name) for column in model.columns)
    connection.execute(
        f"insert into {model.relation} ({names}) select {names} from ({model.sql}) as batch"
    )


def _prepare_table(connection: duckdb.DuckDBPyConnection, model: Model, known: set[str]) -> None:
    """Create the mart with its contract, or add the columns a newer version brought."""
    if not known:
        definitions = ", ".join(_definition(column) for column in model.columns)
        connection.execute(f"create table {model.relation} ({definitions})")
        _comment(connection, model)
    for column in model.columns if known else ():
        if column.name not in known:
            connection.execute(
                f"alter table {model.relation} add column {_quoted(column.name)} {column.data_type}"
            )


def _known_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """Return the columns of every mart that the warehouse already has."""
    rows = connection.execute(
        "select table_name, list(column_name) from duckdb_columns()"
        " where database_name = ? and schema_name = 'main' group by table_name",
        [WAREHOUSE],
    ).fetchall()
    return {table: set(columns) for table, columns in rows}


def _definition(column: Column) -> str:
    required = " not null" if column.is_required else ""
    return f"{_quoted(column.name)} {column.data_type}{required}"


def _comment(connection: duckdb.DuckDBPyConnection, model: Model) -> None:
    connection.execute(f"comment on table {model.relation} is {_literal(model.description)}")
    for column in model.columns:
        connection.execute(
            f"comment on column {model.relation}.{_quoted(column.name)}"
            f" is {_literal(column.description)}"
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
