"""Open and lock a warehouse file, and attach it under the name that the compiled SQL uses."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import duckdb

from collector.errors import BusyError, FileError, UsageError
from collector.warehouse.sql import literal

T = TypeVar("T")
SCRATCH = "scratch"
WAREHOUSE = "warehouse"
LOCK_TIMEOUT_S = 300.0
RETRY_S = 0.2
FRESH_S = 2.0
MAGIC = b"DUCK"
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # a query must not read variables of this program
}


@contextlib.contextmanager
def transaction(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Attach the warehouse, run the block in one transaction on it, and always detach it."""
    with attached(connection, path, on_wait=on_wait), committed(connection):
        yield


@contextlib.contextmanager
def attached(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    *,
    on_wait: Callable[[str], None],
    is_read_only: bool = False,
) -> Iterator[None]:
    """Attach the warehouse, for writing unless `is_read_only`, and always detach it."""
    open_with_lock(
        lambda: attach(connection, path, is_read_only=is_read_only),
        path,
        on_wait=on_wait,
        is_writer=not is_read_only,
    )
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):
            connection.execute(f"detach {WAREHOUSE}")


@contextlib.contextmanager
def committed(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run the block in one transaction."""
    connection.execute("begin transaction")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        # a failed commit has already ended the transaction
        with contextlib.suppress(duckdb.Error):
            connection.execute("rollback")
        raise


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, is_read_only: bool = False
) -> None:
    """Attach a warehouse file under the name that the compiled SQL uses."""
    access = ", read_only" if is_read_only else ""
    connection.execute(f"attach {literal(path)} as {WAREHOUSE} (type duckdb{access})")


def check_path(path: Path, owner: str = "a warehouse") -> None:
    """Raise UsageError if DuckDB would misread the path."""
    if "?" in str(path.parent) or "\\" in str(path):
        raise UsageError(f"{owner} cannot be at {path}: DuckDB misreads ? and \\ in its path")
    if any("\ud800" <= char <= "\udfff" for char in str(path)):
        raise UsageError(f"{owner} cannot be at {str(path)!a}: the path is not valid UTF-8")


def check_warehouse(path: Path) -> None:
    """Raise an error if DuckDB would misread the path, or if another kind of file is there."""
    check_path(path)
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"cannot open the warehouse {path}: {error.strerror}") from error
    if head and head[8:] != MAGIC:
        raise FileError(f"cannot open the warehouse {path}: it is not a DuckDB file")


def is_duckdb(path: Path) -> bool:
    """Tell whether a path is an existing DuckDB file."""
    try:
        if not path.is_file():  # reading a pipe would wait forever
            return False
        with path.open("rb") as file:
            return file.read(12)[8:] == MAGIC
    except OSError:
        return False


def open_with_lock(
    open_file: Callable[[], T],
    path: Path,
    *,
    on_wait: Callable[[str], None],
    timeout_s: float = LOCK_TIMEOUT_S,
    is_writer: bool = False,
) -> T:
    """Open a warehouse; retry while another process uses it, and raise BusyError at the timeout.

    A waiting writer leaves a mark beside the file, so that a viewer can let go of the file.
    """
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            try:
                return open_file()
            except duckdb.OutOfMemoryException:
                raise
            except duckdb.Error as error:
                if "Could not set lock" not in str(error):
                    raise FileError(f"cannot open the warehouse {path}: {error}") from error
                if time.monotonic() > deadline:
                    raise BusyError(
                        f"the warehouse {path} is in use by another process ({error})\n"
                        "  what to do: wait until that process ends, or end it"
                    ) from error
            if is_writer:
                _mark(path, is_waiting=True)
            on_wait(f"waiting for {path}: another process is using it")
            time.sleep(RETRY_S)
    finally:
        if is_writer:
            _mark(path, is_waiting=False)


def has_waiting_writer(path: Path) -> bool:
    """Tell whether another process waits to write to the warehouse."""
    try:
        return time.time() - _waiting_mark(path).stat().st_mtime < FRESH_S
    except OSError:
        return False


def _waiting_mark(path: Path) -> Path:
    return path.with_name(f".{path.name}.waiting")


def _mark(path: Path, *, is_waiting: bool) -> None:
    with contextlib.suppress(OSError):  # a process that cannot write to the folder is not a writer
        if is_waiting:
            _waiting_mark(path).touch()
        else:
            _waiting_mark(path).unlink(missing_ok=True)
