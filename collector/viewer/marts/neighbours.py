"""What comes before and after a rollout: other attempts at its task, other tasks of the list."""

from __future__ import annotations

from collections.abc import Mapping

from collector.viewer.marts.listing import FILTER, Source
from collector.viewer.marts.lists import ROLLOUT_LIST, TASK_LIST
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

LIST = "list"
ROLLOUTS = "rollouts"
"""Somebody came from the table of rollouts, not of tasks."""

ATTEMPTS = """
    select
        max(rollout_index) filter (rollout_index < $rollout) as previous_rollout,
        min(rollout_index) filter (rollout_index > $rollout) as next_rollout,
        count(*) filter (rollout_index <= $rollout) as place,
        count(*) as rollout_count
    from rollout_infos
    where run_id = $run and task_index = $task
"""
# a list may show a task once for each of its agents: the one of the same agent counts
TASKS = """
    with tasks as (
        from ({rows})
        where {where}
        qualify row_number() over (
            partition by task_index
            order by agent_name is not distinct from $agent desc, {order}
        ) = 1
    ),
    listed as (
        select
            task_index, agent_name,
            lag({{task: task_index, agent: agent_name}}) over listing as previous,
            lead({{task: task_index, agent: agent_name}}) over listing as following,
            row_number() over listing as place,
            count(*) over () as task_count
        from tasks
        window listing as (order by {order})
    )
    select
        listed.place, listed.task_count,
        listed.previous.task as previous_task,
        listed.following.task as next_task,
        (
            select min(rollout_index) from rollout_infos
            where run_id = $run and task_index = listed.previous.task
                and agent_name is not distinct from listed.previous.agent
        ) as previous_rollout,
        (
            select min(rollout_index) from rollout_infos
            where run_id = $run and task_index = listed.following.task
                and agent_name is not distinct from listed.following.agent
        ) as next_rollout
    from listed
    where listed.task_index = $task
"""

LISTED_ROLLOUTS = """
    with listed as (
        select
            task_index, rollout_index,
            lag({{task: task_index, rollout: rollout_index}}) over listing as previous,
            lead({{task: task_index, rollout: rollout_index}}) over listing as following,
            row_number() over listing as place,
            count(*) over () as rollout_count
        from ({rows})
        where {where}
        window listing as (order by {order})
    )
    select
        place, rollout_count,
        previous.task as previous_task,
        previous.rollout as previous_rollout,
        following.task as next_task,
        following.rollout as next_rollout
    from listed
    where task_index = $task and rollout_index = $rollout
"""


def kept_state(given: Mapping[str, str]) -> dict[str, str]:
    """Return the state of the list of tasks or rollouts that an address carries along."""
    return {
        name: value
        for name, value in given.items()
        if name in ("q", "sort", "page", LIST) or name.startswith(FILTER)
    }


def read_attempts(reader: Reader, values: Row) -> Row:
    """Return the rollouts of a task that are before and after one."""
    found = reader.row(Query(ATTEMPTS, values))
    assert found is not None
    return found


def read_rollouts(reader: Reader, values: Row, state: Mapping[str, str]) -> Row | None:
    """Return what is before and after a rollout in the list; nothing if the list is without it."""
    return _around(reader, LISTED_ROLLOUTS, ROLLOUT_LIST, values, state)


def read_tasks(reader: Reader, values: Row, state: Mapping[str, str]) -> Row | None:
    """Return the tasks before and after one in the list; nothing if the list is without it."""
    return _around(reader, TASKS, TASK_LIST, values, state)


def _around(
    reader: Reader, sql: str, source: Source, values: Row, state: Mapping[str, str]
) -> Row | None:
    listed = source.state(state)
    where, found, problems = source.where(listed)
    query = sql.format(
        rows=source.listed(listed), where="true" if problems else where, order=source.order(listed)
    )
    return reader.row(Query(query, {**values, **({} if problems else found)}))
