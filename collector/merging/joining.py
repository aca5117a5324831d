"""Put the rows of the shards together.

The kept rows of a run become what staging would have read from the files of the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb

from collector.errors import InvariantError
from collector.merging.agreement import combined_column
from collector.merging.copied_rows import check_copied_rows
from collector.merging.shard_files import SHARD, Shard, reopened_shard
from collector.profiling.kept_rows import PART_COLUMNS, PRICES, RUNS, SCHEMA, STAGING
from collector.profiling.manifest import Plan
from collector.profiling.profile import Writer
from collector.terminal import label
from collector.warehouse.access import SCRATCH
from collector.warehouse.sql import literal, quote_name

COPIED = f"{SCRATCH}.copied"
KEPT_RUNS = f"{STAGING}.kept_runs"
SHARD_TASKS = f"{STAGING}.shard_tasks"
SHOWN = 5


@dataclass(frozen=True)
class ChosenRuns:
    """The runs that several warehouses have, and those that only one has."""

    joined: list[str]
    copied: list[str]


def read_rows(
    writer: Writer, shards: Sequence[Shard], chosen: ChosenRuns, *, on_wait: Callable[[str], None]
) -> None:
    """Read the kept rows of the runs to join, and the rows of the marts of the runs to copy.

    Raise InvariantError if a task of a run is in two shards.
    """
    connection, plan = writer.connection, writer.plan
    connection.execute(f"create schema {COPIED}")
    for number, shard in enumerate(shards):
        writer.steps(f"reading {shard.path.name}")
        joined = [run_id for run_id in chosen.joined if run_id in shard.runs]
        copied = [run_id for run_id in chosen.copied if run_id in shard.runs]
        with reopened_shard(connection, shard, [*joined, *copied], on_wait=on_wait):
            if joined:
                _copy_kept_rows(connection, plan, number, joined)
            if copied:
                _copy_marts(connection, plan, copied)
            if copied and shard.path.is_dir():
                check_copied_rows(connection, plan, copied, schema=COPIED, folder=shard.path)
    if chosen.joined:
        _refuse_shared_tasks(connection, shards)


def _copy_marts(connection: duckdb.DuckDBPyConnection, plan: Plan, run_ids: list[str]) -> None:
    for model in plan.batch("marts"):
        table = f"{COPIED}.{model.name}"
        names = ", ".join(quote_name(column.name) for column in model.columns)
        query = f"select {names} from {SHARD}.main.{model.name}"
        connection.execute(f"create table if not exists {table} as {query} limit 0")
        # written out, so that DuckDB opens only the files of these runs
        chosen = ", ".join(map(literal, run_ids))
        connection.execute(f"insert into {table} {query} where run_id in ({chosen})")


def replace_copied_runs(writer: Writer, run_ids: list[str]) -> None:
    """Replace the rows of the copied runs in every mart of the attached warehouse."""
    connection, plan = writer.connection, writer.plan
    for model in plan.comparison("marts"):
        connection.execute(
            f"delete from {model.relation}"
            " where list_contains($runs, run_id) or list_contains($runs, baseline_run_id)",
            {"runs": run_ids},
        )
    for model in plan.batch("marts"):
        names = ", ".join(quote_name(column.name) for column in model.columns)
        connection.execute(
            f"delete from {model.relation} where list_contains(?, run_id)", [run_ids]
        )
        connection.execute(
            f"insert into {model.relation} ({names}) select {names} from {COPIED}.{model.name}"
        )


def _copy_kept_rows(
    connection: duckdb.DuckDBPyConnection, plan: Plan, number: int, run_ids: list[str]
) -> None:
    """Append the kept rows of the attached shard to the staging tables."""
    sources = {
        model.relation: f"select * from {SHARD}.{SCHEMA}.{model.name}"
        for model in plan.layer("staging")
        if model.name not in (RUNS, PRICES)
    }
    sources[KEPT_RUNS] = f"select {number} as shard_number, * from {SHARD}.{SCHEMA}.{RUNS}"
    sources[SHARD_TASKS] = (
        f"select distinct {number} as shard_number, run_id, task_index"
        f" from {SHARD}.{SCHEMA}.stg_inputs"
    )
    for table, query in sources.items():
        connection.execute(f"create table if not exists {table} as {query} limit 0")
        connection.execute(f"insert into {table} {query} where list_contains(?, run_id)", [run_ids])
    # the shards agree on the prices
    prices = f"select * exclude (run_id) from {SHARD}.{SCHEMA}.{PRICES}"
    connection.execute(
        f"create or replace table {STAGING}.{PRICES} as"
        f" select distinct * from ({prices} where list_contains(?, run_id))",
        [run_ids],
    )


def _refuse_shared_tasks(connection: duckdb.DuckDBPyConnection, shards: Sequence[Shard]) -> None:
    rows = connection.execute(
        f"""
        select run_id, task_index, list(shard_number order by shard_number), count(*) over ()
        from {SHARD_TASKS}
        group by run_id, task_index
        having count(*) > 1
        order by run_id, task_index
        limit {SHOWN}
        """
    ).fetchall()
    if not rows:
        return
    total = rows[0][3]
    tasks = [
        f"task {task} of {label(run_id)} in {', '.join(shards[one].path.name for one in numbers)}"
        for run_id, task, numbers, _ in rows
    ]
    more = [f"… and {total - SHOWN} more"] if total > SHOWN else []
    verb = "task is" if total == 1 else "tasks are"
    raise InvariantError(
        f"{total:,} {verb} in more than one shard; nothing was written\n  "
        + "\n  ".join([*tasks, *more])
        + "\n  what to do: leave out the shard that is given twice, or collect the shards with"
        " --shard 1/N to N/N, so that every task has an index of its own"
    )


def combine_runs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make one row of what the shards say of each run."""
    found = connection.execute(f"select * from {KEPT_RUNS} limit 0").description or ()
    names = [column[0] for column in found]
    left_out = ("shard_number", "run_id", *PART_COLUMNS)
    columns = ["run_id", *(combined_column(name) for name in names if name not in left_out)]
    connection.execute(
        f"create table {STAGING}.{RUNS} as"
        f" select {', '.join(columns)} from {KEPT_RUNS} group by run_id"
    )
