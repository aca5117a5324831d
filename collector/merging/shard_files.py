"""Open the warehouses to merge, and read which runs and which kept rows they have."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.errors import FileError, UsageError
from collector.merging.mart_folders import attach_folder, check_folder
from collector.profiling.kept_rows import PRICES, RUNS, SCHEMA, has_kept_rows
from collector.profiling.marts import check_marts
from collector.remote_paths import is_remote, refuse_remote
from collector.warehouse.access import check_warehouse, open_with_lock
from collector.warehouse.sql import Row, fetch_rows, known_columns, literal

SHARD = "shard"
"""The name under which a warehouse to merge is attached."""


@dataclass(frozen=True)
class Shard:
    """A warehouse to merge."""

    path: Path
    runs: dict[str, Row]
    """The rows of the mart `runs`, by run."""
    kept: dict[str, Row]
    """The kept rows of `stg_runs`, by run: of the runs that were profiled as shards."""
    prices: dict[str, list[Row]]
    """The kept price lists, by run."""


def check_shards(paths: Sequence[Path], warehouse: Path) -> None:
    """Raise an error if a file is not a warehouse, is named twice, or is the one to write."""
    seen: set[Path] = set()
    for path in paths:
        # its name tells, so that nobody needs credentials to be told
        if is_remote(path) and (path.suffix == ".duckdb" or path.is_file()):
            refuse_remote(path, "a warehouse to merge")
        if not path.exists():
            raise FileError(f"there is no warehouse at {path}")
        if path.is_dir():
            check_folder(path)
        else:
            check_warehouse(path)
        real = path if is_remote(path) else path.resolve()
        if real == warehouse.resolve():
            raise UsageError(
                f"{path} is both a warehouse to merge and the one to write\n"
                "  what to do: write to another file with --warehouse, outside of the folder of"
                " the shards"
            )
        if real in seen:
            raise UsageError(f"{path} is named twice")
        seen.add(real)


def read_shard(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> Shard:
    """Return what a warehouse has."""
    with attached_shard(connection, path, on_wait=on_wait):
        if "runs" not in known_columns(connection, SHARD):
            raise FileError(
                f"no marts in {path} yet\n  what to do: fill it with `spotter profile`, or leave it"
                " out"
            )
        if not path.is_dir():
            check_marts(connection, path, database=SHARD)
        runs = fetch_rows(connection, f"select * from {SHARD}.main.runs order by run_id")
        kept, prices = list[Row](), list[Row]()
        if has_kept_rows(connection, SHARD):
            kept = fetch_rows(connection, f"select * from {SHARD}.{SCHEMA}.{RUNS}")
            prices = fetch_rows(connection, f"select * from {SHARD}.{SCHEMA}.{PRICES} order by all")
    return Shard(
        path,
        {row["run_id"]: row for row in runs},
        {row["run_id"]: row for row in kept},
        {
            run["run_id"]: [
                {name: price[name] for name in price if name != "run_id"}
                for price in prices
                if price["run_id"] == run["run_id"]
            ]
            for run in kept
        },
    )


@contextlib.contextmanager
def attached_shard(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    run_ids: Collection[str] | None = None,
    *,
    on_wait: Callable[[str], None],
) -> Iterator[None]:
    """Attach a warehouse to merge for reading, and always detach it.

    A folder of marts has only the mart `runs`, or all marts with the rows of `run_ids`.
    """
    if path.is_dir():
        attach_folder(connection, path, SHARD, run_ids)
    else:
        _attach_file(connection, path, on_wait=on_wait)
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):
            connection.execute(f"detach {SHARD}")


def _attach_file(
    connection: duckdb.DuckDBPyConnection, path: Path, *, on_wait: Callable[[str], None]
) -> None:
    open_with_lock(
        lambda: connection.execute(f"attach {literal(path)} as {SHARD} (type duckdb, read_only)"),
        path,
        on_wait=on_wait,
    )


@contextlib.contextmanager
def reopened_shard(
    connection: duckdb.DuckDBPyConnection,
    shard: Shard,
    run_ids: Collection[str],
    *,
    on_wait: Callable[[str], None],
) -> Iterator[None]:
    """Attach a warehouse again; raise FileError if these runs have changed since it was read."""
    with attached_shard(connection, shard.path, run_ids, on_wait=on_wait):
        rows = connection.execute(f"select run_id, profiled_at from {SHARD}.main.runs").fetchall()
        now = {run_id: time for run_id, time in rows if run_id in run_ids}
        if now != {run_id: shard.runs[run_id]["profiled_at"] for run_id in run_ids}:
            raise FileError(
                f"{shard.path} has changed while it was read; nothing was written\n"
                "  what to do: give the same command again"
            )
        yield
