"""Read what happened to each task from the first of several runs to the last."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from collector.comparing.compare import STEPS
from collector.warehouse.sql import Row, fetch_rows

LISTED_TASKS = 100
KINDS = ("mastered", "forgotten", "stuck", "newly learnable")
MEANINGS = {
    "mastered": "solved in the last run, not in the first",
    "forgotten": "solved in an earlier run, no longer in the last",
    "stuck": "unsolved in every run",
    "newly learnable": "unsolved in the first run, learnable in the last",
}


@dataclass(frozen=True)
class Trajectories:
    """The tasks of the first and the last run, by what happened to them."""

    counts: dict[str, int]
    tasks: list[Row]
    """The first tasks of each kind that is worth a look."""


def read_trajectories(connection: duckdb.DuckDBPyConnection) -> Trajectories:
    """Return the trajectories that the last comparison on this connection left there."""
    relation = f"{STEPS}.int_task_trajectories"
    counts = connection.execute(
        f"select trajectory, count(*) from {relation} group by trajectory order by trajectory"
    ).fetchall()
    tasks = fetch_rows(
        connection,
        f"""
        select trajectory, task_id, occurrence, task_index, first_band, last_band
        from {relation} where list_contains(?, trajectory)
        qualify row_number() over (
            partition by trajectory order by task_index, task_id, occurrence
        ) <= {LISTED_TASKS}
        order by trajectory, task_index, task_id, occurrence
        """,
        list(KINDS),
    )
    return Trajectories(dict(counts), tasks)
