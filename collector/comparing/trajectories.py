"""Read what happened to each task from the first of several runs to the last."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from collector.warehouse.sql import Row, fetch_rows

LISTED_TASKS = 100
ROWS = "task_trajectories where baseline_run_id = ? and run_id = ?"
KINDS = ("mastered", "forgotten", "stuck", "newly_learnable")
MEANINGS = {
    "mastered": "solved in the last run, not in the first",
    "forgotten": "solved in an earlier run, no longer in the last",
    "stuck": "unsolved in every run",
    "newly_learnable": "unsolved in the first run, learnable in the last",
}


@dataclass(frozen=True)
class Trajectories:
    """The tasks of the first and the last run, by what happened to them."""

    counts: dict[str, int]
    tasks: list[Row]
    """The first tasks of each kind that is worth a look."""


def read_trajectories(
    connection: duckdb.DuckDBPyConnection, first_run_id: str, last_run_id: str
) -> Trajectories:
    """Return what happened to the tasks between two runs that were the ends of a comparison."""
    ends = [first_run_id, last_run_id]
    counts = connection.execute(
        f"select trajectory, count(*) from {ROWS} group by trajectory order by trajectory", ends
    ).fetchall()
    tasks = fetch_rows(
        connection,
        f"""
        select trajectory, task_id, occurrence, task_index, first_band, last_band
        from {ROWS} and list_contains(?, trajectory)
        qualify row_number() over (
            partition by trajectory order by task_index, task_id, occurrence
        ) <= {LISTED_TASKS}
        order by trajectory, task_index, task_id, occurrence
        """,
        *ends,
        list(KINDS),
    )
    return Trajectories(dict(counts), tasks)
