"""The previous and next rollout or task, for the links between pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.keys import Key
from collector.viewer.marts.listing import FILTER, ListingSource
from collector.viewer.marts.run_lists import rollout_source, task_source
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

LIST = "list"
ROLLOUTS = "rollouts"
"""The value of `list` in the address if the user came from the table of rollouts."""

ATTEMPTS = """
    select
        max(rollout_index) filter (rollout_index < $rollout) as previous_rollout,
        min(rollout_index) filter (rollout_index > $rollout) as next_rollout,
        count(*) filter (rollout_index <= $rollout) as place,
        count(*) as rollout_count
    from rollout_infos
    where run_id = $run and task_index = $task
"""
# a table may show a task once for each of its agents: take the row of the current agent
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


def list_state(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return those parameters of an address that hold the state of the table the user came from."""
    return {
        name: value
        for name, value in parameters.items()
        if name in ("q", "sort", "page", LIST) or name.startswith(FILTER)
    }


def read_attempts(reader: Reader, values: Row) -> Row:
    """Return the previous and next rollout of the same task."""
    row = reader.row(Query(ATTEMPTS, values))
    assert row is not None
    return row


def read_rollouts(
    reader: Reader, values: Row, state: Mapping[str, str], found: Sequence[Key]
) -> Row | None:
    """Return the previous and next rollout in the table, or None if it lacks the rollout.

    `found` are the rollouts that a search has found outside of the marts.
    """
    source = rollout_source(reader, values["run"], state, found)
    return _read_neighbours(reader, LISTED_ROLLOUTS, source, values, state)


def read_tasks(reader: Reader, values: Row, state: Mapping[str, str]) -> Row | None:
    """Return the previous and next task in the table, or None if it lacks the task."""
    source = task_source(reader, values["run"], state)
    return _read_neighbours(reader, TASKS, source, values, state)


def _read_neighbours(
    reader: Reader, sql: str, source: ListingSource, values: Row, state: Mapping[str, str]
) -> Row | None:
    table = source.state(state)
    where, filter_values, problems = source.where(table)
    query = sql.format(
        rows=source.all_rows(table), where="true" if problems else where, order=source.order(table)
    )
    own = {} if problems else filter_values
    return reader.row(Query(query, {**values, **source.values, **own}))
