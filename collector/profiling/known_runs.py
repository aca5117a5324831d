"""The runs that a warehouse knows, and the names of those that are profiled into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote

import duckdb
import orjson

from collector import artifacts
from collector.artifacts import Run
from collector.errors import BusyError, FileError, UsageError
from collector.profiling.marts import refuse_other_version
from collector.profiling.recorded_identity import recorded_tags
from collector.remote_paths import is_remote, located_path
from collector.suggestions import first_names, suggestion
from collector.terminal import label
from collector.warehouse.access import WAREHOUSE
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row, fetch_rows, known_columns

Tags = Mapping[str, Mapping[str, str]]
"""The tags of each run."""


def known_runs(warehouse: Path, *, on_wait: Callable[[str], None]) -> list[Row]:
    """Return the rows of the runs in the warehouse, the latest profile last.

    Raise FileError if another version of Spotter made the warehouse.
    """
    if not warehouse.exists():
        return []
    with open_read_only(warehouse, on_wait=on_wait) as connection:
        if "runs" not in known_columns(connection):
            return []
        refuse_other_version(connection, warehouse)
        return fetch_rows(connection, "select * from runs order by profiled_at, run_id")


def profile_times(known: Iterable[Row]) -> dict[str, datetime]:
    """Return when each run was last profiled."""
    return {row["run_id"]: row["profiled_at"] for row in known}


def name_runs(rollouts: Iterable[Path], known: Iterable[Row]) -> dict[Path, str]:
    """Return the name of each file's run: the one that the warehouse knows it by, or a new one."""
    paths, rows = list(rollouts), list(known)
    by_path = {row["rollouts_path"]: row["run_id"] for row in rows}
    fresh = [path for path in paths if str(path) not in by_path]
    named = artifacts.run_names(fresh, taken=[row["run_id"] for row in rows])
    return {path: named.get(path) or by_path[str(path)] for path in paths}


def stored_run_ids(names: Iterable[str], rows: Sequence[Row]) -> list[str]:
    """Return the ids of the runs that names mean: an id, or the path of rollouts or their folder.

    `rows` are those of the mart `runs`. Raise UsageError if a name means none of them, or several.
    """
    known = [row["run_id"] for row in rows]
    return [name if name in known else _run_at(name, rows, known) for name in names]


def _run_at(name: str, rows: Iterable[Row], known: Sequence[str]) -> str:
    path = located_path(name)
    try:
        files = [path] if is_remote(path) else artifacts.find_rollouts([path])
    except FileError:
        files = []
    paths = {str(file) for file in files}
    found = [row["run_id"] for row in rows if row["rollouts_path"] in paths]
    if len(found) == 1:
        return str(found[0])
    if found:
        raise UsageError(
            f"{name} holds {len(found)} runs: name one of them\n  {first_names(found)}"
        )
    if not is_remote(path) and path.exists():
        raise UsageError(
            f"{label(name)} is not in the warehouse\n  what to do: spotter profile {quote(name)}"
        )
    raise UsageError(
        f"there is no run {label(name)}{suggestion(name, known)}\n"
        f"  the runs are: {first_names(known) or 'none yet; `spotter profile` adds them'}"
    )


def refuse_outdated(
    connection: duckdb.DuckDBPyConnection, runs: Iterable[Run], repeated: Mapping[str, datetime]
) -> None:
    """Raise BusyError if another process has changed what this profile builds on.

    `connection` has the warehouse locked. `repeated` has the last profiles of runs whose settings
    are repeated.
    """
    stored = fetch_rows(
        connection, f"select run_id, rollouts_path, profiled_at from {WAREHOUSE}.main.runs"
    )
    paths = {row["run_id"]: row["rollouts_path"] for row in stored}
    names = {row["rollouts_path"]: row["run_id"] for row in stored}
    times = profile_times(stored)
    for run in runs:
        path, run_id = str(run.rollouts), run.run_id
        if not run.has_given_name and paths.get(run_id, path) != path:
            raise _outdated(f"another profile has just named {paths[run_id]} {label(run_id)}")
        if not run.has_given_name and path in names and run_id not in paths:
            raise _outdated(f"{path} has just been renamed {label(names[path])}")
        if run_id in repeated and repeated[run_id] != times.get(run_id):
            raise _outdated(f"{label(run_id)} has just been profiled or removed")


def _outdated(reason: str) -> BusyError:
    return BusyError(f"{reason}; nothing was written\n  what to do: give the same command again")


def merged_tags(connection: duckdb.DuckDBPyConnection, runs: Iterable[Run]) -> Tags:
    """Return the tags of every run: those in the attached warehouse or its record, and its new."""
    stored = warehouse_tags(connection)
    return {
        run.run_id: {
            **(stored[run.run_id] if run.run_id in stored else recorded_tags(run.rollouts)),
            **dict(run.tags),
        }
        for run in runs
    }


def warehouse_tags(connection: duckdb.DuckDBPyConnection) -> Tags:
    """Return the tags of the runs in the attached warehouse; a run that never had any is absent."""
    rows = fetch_rows(
        connection, f"select run_id, tags from {WAREHOUSE}.main.runs where tags is not null"
    )
    return {row["run_id"]: stored_tags(row) for row in rows}


def set_tags(connection: duckdb.DuckDBPyConnection, tags: Tags) -> None:
    """Replace the tags of runs in the attached warehouse."""
    texts = [orjson.dumps(dict(sorted(own.items()))).decode() for own in tags.values()]
    connection.execute(
        f"update {WAREHOUSE}.main.runs as runs set tags = given.tags"
        " from (select unnest(?) as run_id, unnest(?) as tags) as given"
        " where runs.run_id = given.run_id",
        [list(tags), texts],
    )


def stored_tags(run: Row) -> dict[str, str]:
    """Return the tags of a run in the warehouse; an older warehouse has none."""
    text = run.get("tags")
    return dict(orjson.loads(text)) if text else {}
