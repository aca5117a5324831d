"""The runs that a warehouse knows, and the names of those that are profiled into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import duckdb
import orjson

from collector import artifacts
from collector.artifacts import Run
from collector.errors import BusyError
from collector.profiling.recorded_identity import recorded_tags
from collector.terminal import label
from collector.warehouse.access import WAREHOUSE
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row, fetch_rows


def known_runs(warehouse: Path, *, on_wait: Callable[[str], None]) -> list[Row]:
    """Return the rows of the runs in the warehouse, the latest profile last."""
    if not warehouse.exists():
        return []
    with open_read_only(warehouse, on_wait=on_wait) as connection:
        try:
            return fetch_rows(connection, "select * from runs order by profiled_at, run_id")
        except duckdb.CatalogException:  # no marts yet
            return []


def name_runs(rollouts: Iterable[Path], known: Iterable[Row]) -> dict[Path, str]:
    """Return the name of each file's run: the one that the warehouse knows it by, or a new one."""
    paths, rows = list(rollouts), list(known)
    by_path = {row["rollouts_path"]: row["run_id"] for row in rows}
    fresh = [path for path in paths if str(path) not in by_path]
    named = artifacts.run_names(fresh, taken=[row["run_id"] for row in rows])
    return {path: named.get(path) or by_path[str(path)] for path in paths}


def refuse_taken_names(connection: duckdb.DuckDBPyConnection, runs: Iterable[Run]) -> None:
    """Raise BusyError if another process has given a new run's name to another file meanwhile."""
    paths = {run.run_id: str(run.rollouts) for run in runs if not run.has_given_name}
    rows = connection.execute(
        f"select run_id, rollouts_path from {WAREHOUSE}.main.runs where list_contains(?, run_id)",
        [list(paths)],
    ).fetchall()
    for run_id, path in rows:
        if path != paths[run_id]:
            raise BusyError(
                f"another profile has just named {path} {label(run_id)}; nothing was written\n"
                "  what to do: give the same command again"
            )


def tag_runs(runs: Iterable[Run], known: Iterable[Row], given: Mapping[str, str]) -> list[Run]:
    """Give every run its tags in the warehouse, or else those of its record, and the given."""
    stored = {row["run_id"]: stored_tags(row) for row in known if row.get("tags")}

    def tags_of(run: Run) -> dict[str, str]:
        own = stored.get(run.run_id)
        return {**(recorded_tags(run.rollouts) if own is None else own), **given}

    return [replace(run, tags=tuple(sorted(tags_of(run).items()))) for run in runs]


def stored_tags(run: Row) -> dict[str, str]:
    """Return the tags of a run in the warehouse; an older warehouse has none."""
    text = run.get("tags")
    return dict(orjson.loads(text)) if text else {}
