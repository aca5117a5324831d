"""List, describe, tag, rename and remove the runs of a warehouse."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.artifacts import check_run_name
from collector.errors import FileError, UsageError
from collector.profiling import marts
from collector.profiling.headlines import Headlines, read_headlines
from collector.profiling.kept_rows import SCHEMA
from collector.profiling.known_runs import set_tags, stored_run_ids, stored_tags
from collector.profiling.plan import load_plan
from collector.suggestions import first_names
from collector.terminal import label
from collector.warehouse.access import (
    OFFLINE,
    WAREHOUSE,
    attach_for_reading,
    check_warehouse,
    transaction,
)
from collector.warehouse.scratch import log_defects
from collector.warehouse.sql import Row, fetch_rows, known_columns, quote_name

FILL = "fill it with `spotter profile`, or name another with --warehouse"
RUN_COLUMNS = ("run_id", "baseline_run_id")
"""The columns that name a run, in any mart."""


@dataclass(frozen=True)
class StoredRuns:
    """The runs of a warehouse, which `on_wait` is told about if another process uses it."""

    warehouse: Path
    on_wait: Callable[[str], None]

    def overviews(self, tags: Mapping[str, str]) -> list[Row]:
        """Return a row for each run and agent; only of runs with these tags."""
        with self._reading() as connection:
            rows = fetch_rows(
                connection,
                f"select * from {WAREHOUSE}.main.run_overviews"
                " order by collection_ended_at nulls first, run_id, agent_name",
            )
        return [row for row in rows if tags.items() <= stored_tags(row).items()]

    def show(self, name: str) -> tuple[Row, Headlines]:
        """Return the row of a run and its main figures."""
        with self._reading() as connection:
            row = _read_run(connection, name)
            return row, read_headlines(connection, row["run_id"])

    def tag(
        self, name: str, tags: Mapping[str, str], removed: Iterable[str]
    ) -> tuple[str, dict[str, str]]:
        """Add tags to a run and remove others; return the id of the run and all tags it has."""
        with self._writing() as connection:
            row = _read_run(connection, name)
            run_id, own = row["run_id"], stored_tags(row)
            unknown = [name for name in removed if name not in own]
            if unknown:
                raise UsageError(
                    f"{label(run_id)} has no tag {', '.join(map(label, unknown))}"
                    f"\n  its tags are: {first_names(list(own)) or 'none'}"
                )
            merged = {**own, **tags}
            kept = {name: merged[name] for name in sorted(merged) if name not in set(removed)}
            set_tags(connection, {run_id: kept})
        return run_id, kept

    def rename(self, name: str, new: str) -> str:
        """Give a run another name, in every mart; return the old one."""
        check_run_name(new, "runs rename")
        with self._writing() as connection:
            rows = _read_known_runs(connection)
            (old,) = stored_run_ids([name], rows)
            if any(row["run_id"] == new for row in rows):
                raise UsageError(f"there is already a run named {label(new)}")
            for mart, column in _run_columns(connection):
                connection.execute(f"update {mart} set {column} = ? where {column} = ?", [new, old])
        return old

    def contents(self, names: Sequence[str]) -> tuple[list[str], dict[str, int]]:
        """Return the ids of runs, and how many rows of each mart belong to them."""
        with self._reading() as connection:
            run_ids = stored_run_ids(names, _read_known_runs(connection))
            return run_ids, _count_rows(connection, run_ids)

    def remove(self, names: Sequence[str]) -> tuple[list[str], dict[str, int]]:
        """Remove runs and their comparisons from every mart; return their ids and rows."""
        with self._writing() as connection:
            run_ids = stored_run_ids(names, _read_known_runs(connection))
            counts = _count_rows(connection, run_ids)
            for mart, column in _run_columns(connection):
                connection.execute(
                    f"delete from {mart} where list_contains(?, {column})", [run_ids]
                )
        return run_ids, counts

    @contextlib.contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection to a warehouse that has all marts."""
        self._check()
        with (
            duckdb.connect(config=OFFLINE) as connection,
            attach_for_reading(connection, self.warehouse, on_wait=self.on_wait),
        ):
            if not known_columns(connection, WAREHOUSE):
                raise FileError(f"no marts in {self.warehouse} yet\n  what to do: {FILL}")
            marts.check_marts(connection, self.warehouse, database=WAREHOUSE)
            yield connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection to a warehouse that has all marts, in one transaction."""
        self._check()
        with (
            log_defects("runs"),
            duckdb.connect(config=OFFLINE) as connection,
            transaction(connection, self.warehouse, on_wait=self.on_wait),
        ):
            marts.prepare(connection, load_plan(), self.warehouse)
            yield connection

    def _check(self) -> None:
        check_warehouse(self.warehouse)
        if not self.warehouse.exists():
            raise FileError(f"there is no warehouse at {self.warehouse}\n  what to do: {FILL}")


def _read_known_runs(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    return fetch_rows(connection, f"select * from {WAREHOUSE}.main.runs order by run_id")


def _read_run(connection: duckdb.DuckDBPyConnection, name: str) -> Row:
    rows = _read_known_runs(connection)
    (run_id,) = stored_run_ids([name], rows)
    return next(row for row in rows if row["run_id"] == run_id)


def _run_columns(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the marts and the kept rows of shards with each of their columns that name a run."""
    rows = connection.execute(
        "select schema_name, table_name, column_name from duckdb_columns()"
        " inner join duckdb_tables() using (database_name, schema_name, table_name)"
        " where database_name = ? and list_contains(?, schema_name)"
        " and list_contains(?, column_name)"
        " order by schema_name, table_name, column_name",
        [WAREHOUSE, ["main", SCHEMA], list(RUN_COLUMNS)],
    ).fetchall()
    return [(f"{WAREHOUSE}.{schema}.{quote_name(table)}", column) for schema, table, column in rows]


def _count_rows(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    columns: dict[str, list[str]] = {}
    for mart, column in _run_columns(connection):
        columns.setdefault(mart, []).append(column)
    for mart, names in columns.items():
        condition = " or ".join(f"list_contains($runs, {name})" for name in names)
        row = connection.execute(
            f"select count(*) from {mart} where {condition}", {"runs": list(run_ids)}
        ).fetchone()
        counts[mart.rpartition(".")[2].strip('"')] = row[0] if row else 0
    return {name: count for name, count in counts.items() if count}
