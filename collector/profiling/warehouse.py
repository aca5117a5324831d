"""Write a batch into the warehouse file in one transaction: all marts change, or none does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from collector.errors import BusyError, FileError, InvariantError, UsageError
from collector.profiling.plan import SCRATCH, WAREHOUSE, Column, Model, Plan

Row = dict[str, Any]
T = TypeVar("T")
LOCK_TIMEOUT_S = 300.0
RETRY_S = 0.2
FRESH_S = 2.0
MAGIC = b"DUCK"
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # a query must not see the variables of this program
}
VIEW_LAYERS = ("exports", "semantic")
BATCH_RUNS = f"select run_id from {SCRATCH}.staging.stg_runs"


@contextlib.contextmanager
def transaction(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Attach the warehouse, hold one transaction on it, and let go of the file in every case."""
    with_lock(lambda: attach(connection, path), path, on_wait=on_wait, is_writer=True)
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


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, is_read_only: bool = False
) -> None:
    """Attach a warehouse file under the name the compiled SQL knows it by."""
    access = ", read_only" if is_read_only else ""
    connection.execute(f"attach {literal(path)} as {WAREHOUSE} (type duckdb{access})")


def check_path(path: Path, what: str = "a warehouse") -> None:
    """Refuse a path that DuckDB would misread."""
    if "?" in str(path.parent) or "\\" in str(path):
        raise UsageError(f"{what} cannot lie at {path}: DuckDB misreads ? and \\ in its path")
    if any("\ud800" <= char <= "\udfff" for char in str(path)):
        raise UsageError(f"{what} cannot lie at {str(path)!a}: its path is no UTF-8")


def check_warehouse(path: Path) -> None:
    """Refuse a path that DuckDB would misread, and a file that is something else."""
    check_path(path)
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"cannot open the warehouse {path}: {error.strerror}") from error
    if head and head[8:] != MAGIC:
        raise FileError(f"cannot open the warehouse {path}: it is no DuckDB file")


def is_duckdb(path: Path) -> bool:
    """Tell whether a file is DuckDB's."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            return file.read(12)[8:] == MAGIC
    except OSError:
        return False


def with_lock(
    opening: Callable[[], T],
    path: Path,
    *,
    on_wait: Callable[[str], None],
    timeout_s: float = LOCK_TIMEOUT_S,
    is_writer: bool = False,
) -> T:
    """Open a warehouse, waiting while another process uses it; readers see that a writer waits."""
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            try:
                return opening()
            except duckdb.OutOfMemoryException:
                raise
            except duckdb.Error as error:
                if "Could not set lock" not in str(error):
                    raise FileError(f"cannot open the warehouse {path}: {error}") from error
                if time.monotonic() > deadline:
                    raise BusyError(
                        f"the warehouse {path} is in use by another process ({error})\n"
                        "  what to do: wait until it is done, or close what holds the file open"
                    ) from error
            if is_writer:
                _mark(path, is_waiting=True)
            on_wait(f"waiting for {path}: another process is using it")
            time.sleep(RETRY_S)
    finally:
        if is_writer:
            _mark(path, is_waiting=False)


def is_awaited(path: Path) -> bool:
    """Tell whether somebody waits to write to a warehouse that this process reads."""
    try:
        return time.time() - _waiting_mark(path).stat().st_mtime < FRESH_S
    except OSError:
        return False


def _waiting_mark(path: Path) -> Path:
    return path.with_name(f".{path.name}.waiting")


def _mark(path: Path, *, is_waiting: bool) -> None:
    with contextlib.suppress(OSError):  # in a folder that cannot be written to, nobody waits
        if is_waiting:
            _waiting_mark(path).touch()
        else:
            _waiting_mark(path).unlink(missing_ok=True)


def build_marts(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Replace the batch's rows in every mart, and refresh the views on them."""
    for schema in VIEW_LAYERS:
        connection.execute(f"create schema if not exists {WAREHOUSE}.{schema}")
    known = known_columns(connection)
    for model in plan.layer("marts", *VIEW_LAYERS):
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
    names = ", ".join(quoted(column.name) for column in model.columns)
    connection.execute(
        f"insert into {model.relation} ({names}) select {names} from ({model.sql}) as batch"
    )


def _prepare_table(connection: duckdb.DuckDBPyConnection, model: Model, known: set[str]) -> None:
    """Create the mart with its contract, or add the columns a newer version brought."""
    if not known:
        definitions = ", ".join(_definition(column) for column in model.columns)
        connection.execute(f"create table {model.relation} ({definitions})")
    added = [column for column in model.columns if known and column.name not in known]
    for column in added:
        connection.execute(
            f"alter table {model.relation} add column {quoted(column.name)} {column.data_type}"
        )
    if added or not known:
        describe_table(connection, model, model.relation)


def known_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """Return the columns of every mart that the warehouse already has."""
    rows = connection.execute(
        "select table_name, list(column_name) from duckdb_columns()"
        " where database_name = ? and schema_name = 'main' group by table_name",
        [WAREHOUSE],
    ).fetchall()
    return {table: set(columns) for table, columns in rows}


def _definition(column: Column) -> str:
    required = " not null" if column.is_required else ""
    return f"{quoted(column.name)} {column.data_type}{required}"


def describe_table(connection: duckdb.DuckDBPyConnection, model: Model, relation: str) -> None:
    """Write what a mart and its columns mean into the database, as comments."""
    connection.execute(f"comment on table {relation} is {literal(model.description)}")
    for column in model.columns:
        connection.execute(
            f"comment on column {relation}.{quoted(column.name)} is {literal(column.description)}"
        )


def quoted(name: str) -> str:
    """Write a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Write a text for SQL."""
    return "'" + str(text).replace("'", "''") + "'"
