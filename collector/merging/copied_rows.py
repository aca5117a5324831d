"""Check the rows of runs that were copied from a folder of marts.

A build on Spark writes one mart after the other. So a folder may have marts of two builds, or lack
some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from collector.errors import FileError
from collector.profiling.manifest import Plan
from collector.terminal import label
from collector.warehouse.sql import fetch_rows

HINT = "the build that wrote it may have stopped before its end: build the run again"
SIBLINGS = (
    ("task_profiles", "task_bands", "rollout_infos"),
    ("rollout_health", "agent_efforts"),
    ("rollout_metrics", "metric_histograms"),
    ("agent_scores", "pass_at_k"),
)
"""A run has rows in each of these marts, or in none of them."""


def check_copied_rows(
    connection: duckdb.DuckDBPyConnection,
    plan: Plan,
    run_ids: Sequence[str],
    *,
    schema: str,
    folder: Path,
) -> None:
    """Raise FileError if the marts of a run have a row twice, or contradict one another.

    The tables of `schema` have the names of the marts, and may have rows of other runs.
    """
    connection.execute(
        f"create or replace table {schema}.batch as select unnest(?::varchar[]) as run_id",
        [list(run_ids)],
    )
    for model in plan.batch("marts"):
        keys = ", ".join(model.key)
        twice = (
            f"select run_id from {schema}.{model.name} where run_id in (from {schema}.batch)"
            f" group by {keys} having count(*) > 1"
        )
        if found := connection.execute(f"{twice} limit 1").fetchone():
            raise FileError(
                f"{folder / model.name} has rows of {label(found[0])} twice\n  what to do: {HINT}"
            )
    for query, what in (*_missing_rows(schema), *_contradictions(plan, schema)):
        if wrong := fetch_rows(connection, f"select * from ({query}) limit 1"):
            names = [value for name, value in wrong[0].items() if name.endswith("run_id") and value]
            run = label(names[0]) if names else "a run"
            raise FileError(
                f"the marts of {run} in {folder} contradict one another ({what})\n"
                f"  what to do: {HINT}"
            )


def _missing_rows(schema: str) -> Iterator[tuple[str, str]]:
    """Give queries for runs that lack rows in some mart, and what they are about."""
    for first, *others in SIBLINGS:
        for other in others:
            query = (
                f"select run_id from {schema}.batch"
                f" where (run_id in (select run_id from {schema}.{first}))"
                f" != (run_id in (select run_id from {schema}.{other}))"
            )
            yield query, f"{first} and {other}"
    found = f"select run_id, count(*) as found from {schema}.rollout_infos group by run_id"
    query = (
        f"select run_id from {schema}.batch"
        f" inner join {schema}.runs using (run_id) left join ({found}) using (run_id)"
        " where completed_rollout_count != coalesce(found, 0)"
    )
    yield query, "runs and rollout_infos"


def _contradictions(plan: Plan, schema: str) -> Iterator[tuple[str, str]]:
    """Give the project's tests of marts that read nothing else, and their names."""
    (batch,) = (model for model in plan.layer("staging") if model.name == "stg_runs")
    for check in plan.checks:
        sql = check.sql.replace(batch.relation, f"{schema}.batch")
        for model in plan.batch("marts"):
            sql = sql.replace(model.relation, f"{schema}.{model.name}")
        if not any(model.relation in sql for model in plan.layer("staging")):
            yield sql, check.name
