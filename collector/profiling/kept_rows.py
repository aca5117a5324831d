"""Keep the staged rows of a shard in its warehouse, so that `spotter merge` can join the shards.

The marts cannot be joined: an agent's label, a limit of turns and other findings depend on the
whole run. The staged rows can. They hold what the files say, without the transcripts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import duckdb

from collector import __version__
from collector.artifacts import Run
from collector.profiling.manifest import Plan
from collector.profiling.run_records import recorded_part
from collector.warehouse.access import SCRATCH, WAREHOUSE
from collector.warehouse.sql import literal

SCHEMA = "shards"
RUNS, PRICES = "stg_runs", "stg_prices"
STAGING = f"{SCRATCH}.staging"
PART_COLUMNS = ("part", "spotter_version", "staging_digest")
"""What the kept runs say besides the columns of the model."""


def recorded_part_of_run(run: Run) -> str | None:
    """Return the part that the collector was told to collect, like `2/8`; None if it was all."""
    shard = recorded_part(run.rollouts, "settings").get("shard")
    return f"{shard[0]}/{shard[1]}" if isinstance(shard, list) and len(shard) == 2 else None


def shards_among(runs: Iterable[Run], *, are_all: bool) -> dict[str, str | None]:
    """Return the runs that are shards, by id, each with its part if the collector recorded one."""
    parts = {run.run_id: recorded_part_of_run(run) for run in runs}
    return {run_id: part for run_id, part in parts.items() if are_all or part}


def staging_digest(plan: Plan) -> str:
    """Return a fingerprint of the staging models: rows that other models made cannot be joined."""
    text = "\n".join(model.sql for model in plan.layer("staging"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep_rows(
    connection: duckdb.DuckDBPyConnection, plan: Plan, shards: Mapping[str, str | None]
) -> None:
    """Keep the staged rows of the shards in the warehouse; forget those of an earlier profile.

    The value of a shard is its part.
    """
    rows = connection.execute(f"select run_id from {STAGING}.{RUNS}").fetchall()
    forget_kept_rows(connection, [run_id for (run_id,) in rows])
    if not shards:
        return
    queries = _queries(plan, shards)
    _create_tables(connection, plan, queries)
    for name, query in queries.items():
        table = f"{WAREHOUSE}.{SCHEMA}.{name}"
        connection.execute(
            f"insert into {table} {query} where list_contains(?, run_id)", [[*shards]]
        )


def forget_kept_rows(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> None:
    """Delete the kept rows of runs that another profile or a merge replaces."""
    if has_kept_rows(connection, WAREHOUSE):
        rows = connection.execute(
            "select table_name from duckdb_tables() where database_name = ? and schema_name = ?",
            [WAREHOUSE, SCHEMA],
        ).fetchall()
        for (name,) in rows:
            connection.execute(
                f"delete from {WAREHOUSE}.{SCHEMA}.{name} where list_contains(?, run_id)",
                [list(run_ids)],
            )


def has_kept_rows(connection: duckdb.DuckDBPyConnection, database: str) -> bool:
    """Tell whether a database has tables for kept rows."""
    row = connection.execute(
        "select 1 from duckdb_tables() where database_name = ? and schema_name = ?"
        " and table_name = ?",
        [database, SCHEMA, RUNS],
    ).fetchone()
    return row is not None


def _queries(plan: Plan, shards: Mapping[str, str | None]) -> dict[str, str]:
    """Return the rows to keep, by the name of their table."""
    queries = {model.name: f"select * from {model.relation}" for model in plan.layer("staging")}
    parts = ", ".join(f"({_text(run_id)}, {_text(part)})" for run_id, part in shards.items())
    queries[RUNS] = (
        f"select runs.*, parts.part, {_text(__version__)} as spotter_version,"
        f" {_text(staging_digest(plan))} as staging_digest from {STAGING}.{RUNS} as runs"
        f" inner join (values {parts}) as parts (run_id, part) using (run_id)"
    )
    queries[PRICES] = (
        f"select runs.run_id, prices.* from {STAGING}.{RUNS} as runs"
        f" cross join {STAGING}.{PRICES} as prices"
    )
    return queries


def _create_tables(
    connection: duckdb.DuckDBPyConnection, plan: Plan, queries: Mapping[str, str]
) -> None:
    """Create the tables; those of an earlier version go, because nothing can join their rows."""
    schema = f"{WAREHOUSE}.{SCHEMA}"
    if has_kept_rows(connection, WAREHOUSE):
        row = connection.execute(
            f"select bool_and(staging_digest = ?) from {schema}.{RUNS}", [staging_digest(plan)]
        ).fetchone()
        if row == (True,):
            return
        connection.execute(f"drop schema {schema} cascade")
    connection.execute(f"create schema {schema}")
    for name, query in queries.items():
        connection.execute(f"create table {schema}.{name} as {query} limit 0")


def _text(value: str | None) -> str:
    return "null::varchar" if value is None else literal(value)
