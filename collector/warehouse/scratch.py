"""Open a DuckDB in memory to work in, and translate its errors into messages."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from collector.cache import log_folder
from collector.errors import FileError, SpotterError, UsageError
from collector.remote_paths import RemotePath
from collector.temporary_files import temporary_folder
from collector.warehouse.access import OFFLINE, SCRATCH


def open_scratch(memory_limit: str | None, spill: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB in memory with the schemas of a batch; it spills into a folder at its limit."""
    limit = memory_limit or default_memory_limit()
    config = {**OFFLINE, "memory_limit": limit, "temp_directory": str(spill)}
    try:
        connection = duckdb.connect(config=config)
    except (duckdb.ParserException, duckdb.InvalidInputException) as error:
        raise UsageError(
            f"--memory-limit {limit}: {error}\n  write it like 4GB or 500MiB"
        ) from error
    connection.execute(f"attach ':memory:' as {SCRATCH}")
    for schema in ("seeds", "staging", "audits", "intermediate"):
        connection.execute(f"create schema {SCRATCH}.{schema}")
    return connection


@contextlib.contextmanager
def scratch_beside(
    warehouse: Path, memory_limit: str | None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Open a DuckDB in memory that spills into a folder beside the warehouse; yield both."""
    with contextlib.ExitStack() as stack:
        try:
            warehouse.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(temporary_folder(warehouse.parent))
        except OSError as error:
            raise FileError(f"cannot write the warehouse {warehouse}: {error.strerror}") from error
        yield stack.enter_context(open_scratch(memory_limit, folder / "spill")), folder


@contextlib.contextmanager
def reading_stores(connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]) -> Iterator[None]:
    """Let DuckDB read the files among the paths that are in object stores.

    DuckDB makes a traceback of what a store says, so the store's own error is raised instead.
    """
    stores = {path.protocol: path.store for path in paths if isinstance(path, RemotePath)}
    if stores:
        from collector.remote_files import DuckdbFiles

        # DuckDB would keep what it has read of remote files, until its memory is full
        connection.execute("set enable_external_file_cache = false")
        for store in stores.values():
            store.failure = None
            connection.register_filesystem(DuckdbFiles(store))
    try:
        yield
    except duckdb.Error as error:
        failures = [store.failure for store in stores.values() if store.failure]
        if not failures:
            raise
        raise failures[0] from error


def default_memory_limit() -> str:
    """Return half of the memory that this process may use, like 4096MiB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return f"{total // 2 // (1 << 20)}MiB"


@contextlib.contextmanager
def log_defects(name: str) -> Iterator[None]:
    """Turn DuckDB's errors into SpotterErrors; log the traceback of an unexpected one."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"{first}\n  what to do: allow more memory with --memory-limit") from error
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        raise FileError(f"{str(error).splitlines()[0]}\n  nothing was written") from error
    except duckdb.Error as error:
        log = log_folder() / f"{name}.log"
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat()}\n{traceback.format_exc()}\n")
        first = str(error).splitlines()[0]
        raise SpotterError(f"{first}\n  nothing was written; the details are in {log}") from error
