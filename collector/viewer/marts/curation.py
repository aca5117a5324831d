"""What the Curate page reads from the marts: the candidates of a run, and the tasks of a reason."""

from __future__ import annotations

from collections.abc import Sequence

from collector.viewer.marts.store import Query

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


def candidates_query(run_id: str) -> Query:
    """Return the query of what is known about the tasks of a run."""
    return Query(CANDIDATES, {"run": run_id})


def listed_query(run_id: str, tasks: Sequence[int]) -> Query:
    """Return the query of what is known about some tasks of a run."""
    return Query(LISTED, {"run": run_id, "tasks": list(tasks)})
