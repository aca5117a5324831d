"""Write NeMo Gym's output files from the export models."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from collector.artifacts import Run
from collector.atomic_files import Drafts, anything
from collector.warehouse.access import WAREHOUSE

FETCH_ROWS = 256
PROFILES = f"select line from {WAREHOUSE}.exports.export_reward_profiling"
REPEATS = f"select line from {WAREHOUSE}.exports.export_repeat_level_metrics"
AGENTS = f"select line from {WAREHOUSE}.exports.export_agent_metrics"


def write_run(connection: duckdb.DuckDBPyConnection, run: Run, drafts: Drafts) -> None:
    """Write the three output files of a run as drafts."""
    with drafts.open(run.profiling, replaces=anything) as file:
        query = f"{PROFILES} where run_id = ? order by task_index, agent_name"
        file.writelines(line + b"\n" for line in _lines(connection, query, run))
    with drafts.open(run.agents, replaces=anything) as file:
        query = f"{AGENTS} where run_id = ? order by agent_name"
        file.write(b"[" + b",".join(_lines(connection, query, run)) + b"]")
    with drafts.open(run.repeats, replaces=anything) as file:
        query = f"{REPEATS} where run_id = ? order by agent_name, rollout_index"
        file.write(b"[" + b",".join(_lines(connection, query, run)) + b"]")


def _lines(connection: duckdb.DuckDBPyConnection, query: str, run: Run) -> Iterator[bytes]:
    result = connection.execute(query, [run.run_id])
    while rows := result.fetchmany(FETCH_ROWS):
        for (line,) in rows:
            yield line.encode()
