"""Open and lock a warehouse file, and attach it under the name that the compiled SQL uses."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import duckdb

from collector.errors import BusyError, FileError, UsageError
from collector.remote_paths import refuse_remote
from collector.temporary_files import temporary_folder
from collector.terminal import say
from collector.warehouse.files import WaitingMark, WrittenFile, log_path
from collector.warehouse.sql import literal

T = TypeVar("T")
SCRATCH = "scratch"
WAREHOUSE = "warehouse"
LOCK_TIMEOUT_S = 300.0
RETRY_S = 0.2
MAGIC = b"DUCK"
STORAGE = "v1.2.0"
"""The oldest DuckDB that can open a warehouse: it brought the compression of long texts."""
NOT_LOCKED = "Could not set lock"
# what DuckDB says of a network file system without locks: waiting would not help
NO_LOCKS = re.compile("No locks available|not supported|not implemented")
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # a query must not read variables of this program
}


@contextlib.contextmanager
def transaction(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Attach the warehouse, run the block in one transaction on it, and always detach it.

    Raise FileError if the file at the path is another one at the end than at the beginning. If the
    block fails, the warehouse is as it was before.
    """
    with (
        attach_for_writing(connection, path, on_wait=on_wait) as file,
        commit_whole(connection, file),
    ):
        yield


@contextlib.contextmanager
def attach_for_writing(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[WrittenFile]:
    """Attach the warehouse for writing, and always detach it: as it was, unless committed."""
    file = open_with_lock(
        lambda: _attach_for_writing(connection, path), path, on_wait=on_wait, is_writer=True
    )
    try:
        yield file
    finally:
        if not file.is_committed:
            file.undo()
        _detach(connection, path)
    file.check()


@contextlib.contextmanager
def attach_for_reading(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Attach the warehouse for reading, and always detach it."""
    open_with_lock(lambda: attach(connection, path, is_read_only=True), path, on_wait=on_wait)
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):
            connection.execute(f"detach {WAREHOUSE}")


@contextlib.contextmanager
def commit_whole(connection: duckdb.DuckDBPyConnection, file: WrittenFile) -> Iterator[None]:
    """Run the block in one transaction on the attached warehouse."""
    try:
        connection.execute("begin transaction")
        yield
        file.check()
        connection.execute("commit")
        file.is_committed = True
    except BaseException:
        # a failed commit has already ended the transaction
        with contextlib.suppress(duckdb.Error):
            connection.execute("rollback")
        raise


def _attach_for_writing(connection: duckdb.DuckDBPyConnection, path: Path) -> WrittenFile:
    is_new = False
    while True:
        is_new = _create(connection, path) or is_new
        had_log = log_path(path).exists()
        attach(connection, path)
        file = WrittenFile(path, is_new=is_new, had_log=had_log)
        if file.is_open():
            return file
        # removed between opening and locking, by the profile that created it and failed
        connection.execute(f"detach {WAREHOUSE}")


def _create(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Create an empty warehouse, unless there is a file already; tell whether it did.

    DuckDB writes a new file in several steps, and a kill between them would leave a file that
    cannot be opened. So the file gets its name when it is complete.
    """
    if path.exists():
        return False
    with temporary_folder(path.parent) as folder:
        draft = folder / path.name
        create_empty(connection, draft)
        connection.execute(f"detach {WAREHOUSE}")
        try:
            os.link(draft, path)
        except FileExistsError:  # another process was faster
            return False
        except OSError:  # a file system without links
            draft.rename(path)
    return True


def _detach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    try:
        connection.execute(f"detach {WAREHOUSE}")
    except duckdb.Error as error:
        if log_path(path).exists():
            say(
                f"warning: {path} is complete, but a part of it is still in {log_path(path).name},"
                " and the two must stay together until the next profile"
                f" ({str(error).splitlines()[0]})"
            )


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, is_read_only: bool = False
) -> None:
    """Attach a warehouse file under the name that the compiled SQL uses."""
    access = ", read_only" if is_read_only else ""
    connection.execute(f"attach {literal(path)} as {WAREHOUSE} (type duckdb{access})")


def create_empty(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Create a warehouse file that older versions of DuckDB can open too, and attach it."""
    connection.execute(
        f"attach {literal(path)} as {WAREHOUSE} (type duckdb, storage_version {literal(STORAGE)})"
    )


def check_path(path: Path, owner: str = "a warehouse") -> None:
    """Raise UsageError if DuckDB would misread the path."""
    refuse_remote(path, owner)
    if "?" in str(path.parent) or "\\" in str(path):
        raise UsageError(f"{owner} cannot be at {path}: DuckDB misreads ? and \\ in its path")
    if any("\ud800" <= char <= "\udfff" for char in str(path)):
        raise UsageError(f"{owner} cannot be at {str(path)!a}: the path is not valid UTF-8")


def check_warehouse(path: Path) -> None:
    """Raise an error if DuckDB would misread the path, or if another kind of file is there."""
    check_path(path)
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait forever
            raise FileError(f"cannot open the warehouse {path}: it is not a regular file")
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
    with WaitingMark(path) if is_writer else contextlib.nullcontext() as mark:
        while True:
            try:
                return open_file()
            except duckdb.OutOfMemoryException:
                raise
            except duckdb.Error as error:
                if NO_LOCKS.search(str(error)):
                    raise FileError(
                        f"cannot open the warehouse {path}: {error}\n"
                        "  what to do: keep the warehouse on a file system with locks, like a local"
                        " disk"
                    ) from error
                if NOT_LOCKED not in str(error):
                    raise FileError(f"cannot open the warehouse {path}: {error}") from error
                if time.monotonic() > deadline:
                    raise BusyError(
                        f"the warehouse {path} is in use by another process ({error})\n"
                        "  what to do: wait until that process ends, or end it"
                    ) from error
            if mark:
                mark.set()
            on_wait(f"waiting for {path}: another process is using it")
            time.sleep(RETRY_S)
