"""What the Curate page reads from the marts: the slices of a run, and the tasks of a reason."""

from __future__ import annotations

from collections.abc import Sequence

from collector.viewer.marts.store import Query, Reader

HAS_SLICES = "select table_name from duckdb_tables() where table_name = 'task_slices'"
SLICE_FIELDS = """
    select slice_by
    from task_slices
    where run_id = $run
    group by slice_by
    order by slice_by
"""
CANDIDATES = """
    select *
    from curation_candidates
    where run_id = $run
    order by task_index, agent_name
"""
LISTED = """
    select *
    from curation_candidates
    where run_id = $run and list_contains($tasks, task_index)
    order by task_index, agent_name
"""


def read_slice_fields(reader: Reader, run_id: str) -> list[str]:
    """Return the fields that a run is sliced by."""
    if not reader.rows(Query(HAS_SLICES)):  # the warehouse is of an earlier version
        return []
    return [row["slice_by"] for row in reader.rows(Query(SLICE_FIELDS, {"run": run_id}))]


def candidates_query(run_id: str) -> Query:
    """Return the query of what is known about the tasks of a run."""
    return Query(CANDIDATES, {"run": run_id})


def listed_query(run_id: str, tasks: Sequence[int]) -> Query:
    """Return the query of what is known about some tasks of a run."""
    return Query(LISTED, {"run": run_id, "tasks": list(tasks)})
