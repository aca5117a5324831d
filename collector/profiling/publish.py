"""Write NeMo Gym's output files from the export models."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from collector.artifacts import Run
from collector.atomic_files import Drafts, anything
from collector.warehouse.access import WAREHOUSE

FETCH_ROWS = 256
# the lines of tasks may be long, and sorting takes several times their memory: so some at a time
RANGE_BYTES = 40_000_000
LEAST_BYTES = 20_000
PROFILES = f"select line from {WAREHOUSE}.exports.export_reward_profiling"
REPEATS = f"select line from {WAREHOUSE}.exports.export_repeat_level_metrics"
AGENTS = f"select line from {WAREHOUSE}.exports.export_agent_metrics"
RANGES = f"""
    select min(task_index), max(task_index)
    from (
        select task_index, sum(bytes) over (order by task_index) // ? as part
        from (
            select task_index, sum(greatest(strlen(sample), {LEAST_BYTES})) as bytes
            from {WAREHOUSE}.main.task_profiles
            where run_id = ?
            group by task_index
        )
    )
    group by part
    order by part
"""


def write_run(connection: duckdb.DuckDBPyConnection, run: Run, drafts: Drafts) -> None:
    """Write the three output files of a run as drafts."""
    with drafts.open(run.profiling, replaces=anything) as file:
        condition = "run_id = ? and task_index between ? and ?"
        query = f"{PROFILES} where {condition} order by task_index, agent_name"
        for bounds in connection.execute(RANGES, [RANGE_BYTES, run.run_id]).fetchall():
            file.writelines(line + b"\n" for line in _lines(connection, query, run, *bounds))
    with drafts.open(run.agents, replaces=anything) as file:
        query = f"{AGENTS} where run_id = ? order by agent_name"
        file.write(b"[" + b",".join(_lines(connection, query, run)) + b"]")
    with drafts.open(run.repeats, replaces=anything) as file:
        query = f"{REPEATS} where run_id = ? order by agent_name, rollout_index"
        file.write(b"[" + b",".join(_lines(connection, query, run)) + b"]")


def _lines(
    connection: duckdb.DuckDBPyConnection, query: str, run: Run, *bounds: int
) -> Iterator[bytes]:
    result = connection.execute(query, [run.run_id, *bounds])
    while rows := result.fetchmany(FETCH_ROWS):
        for (line,) in rows:
            yield line.encode()
