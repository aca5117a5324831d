"""The tasks of two runs: their table, their prompts, and the rollouts to read side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from collector.viewer.marts.comparison import PAIR
from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import START_CHARACTERS, Listing, ListingSource
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

CHANGES = (
    "newly failing",
    "newly passing",
    "less often passing",
    "more often passing",
    "same",
    "unscored",
    "only in A",
    "only in B",
)
ROWS = f"""
        select * replace (
            case change when 'only in baseline' then 'only in A'
            when 'only in candidate' then 'only in B' else change end as change
        )
        from task_comparisons
        where {PAIR}
"""
SOURCE = ListingSource(
    columns=(
        ListingColumn("baseline_task_index", "Task in A", hint="12"),
        ListingColumn("task_index", "Task in B", hint="12", is_minor=True),
        ListingColumn("change", "What happened", "choice", choices=CHANGES),
        ListingColumn("baseline_pass_ratio", "Pass rate in A", hint="<0.5"),
        ListingColumn("pass_ratio", "Pass rate in B", hint=">0.5"),
        ListingColumn("moved_chance", "Chance that it moved", hint=">0.9"),
        ListingColumn("baseline_reward_mean", "Mean reward in A", is_minor=True),
        ListingColumn("reward_mean", "Mean reward in B", is_minor=True),
        ListingColumn("difference", "B minus A", hint="<0"),
    ),
    rows=ROWS,
    key="baseline_task_index, task_index",
    default_sort="-moved_chance",
    marts=("task_comparisons",),
)
# a search looks into the prompts, which are in the warehouse and not in the comparison
FOUND = f"""{ROWS.rstrip()}
            and (baseline_task_index in (select unnest($found_first::bigint[]))
                or task_index in (select unnest($found_second::bigint[])))
"""
SEARCH = """
    select task_index from task_profiles
    where run_id = $run and agent_name = $agent and contains(lower(prompt), lower($search))
"""
PROMPTS = f"""
    select task_index, left(prompt, {START_CHARACTERS}) as prompt from task_profiles
    where run_id = $run and agent_name = $agent and list_contains($tasks, task_index)
"""
TASK = f"""
    select * from task_comparisons
    where {PAIR} and baseline_task_index = $task
"""
# the tasks whose change is surest, in turn one that got worse and one that got better
TELLING = f"""
    select *, row_number() over (
        partition by difference < 0 order by moved_chance desc, task_id, occurrence
    ) as place
    from task_comparisons
    where {PAIR} and change in ('newly failing', 'newly passing', 'less often passing',
        'more often passing')
    order by place, difference
    limit $count
"""
ROLLOUT = """
    select task_index, rollout_index, reward, is_measured is false as is_masked
    from rollout_infos
    where run_id = $run and agent_name = $agent and task_index = $task
    order by reward {direction} nulls last, rollout_index
    limit 1
"""


@dataclass(frozen=True)
class RolloutPair:
    """A task of both runs, and a rollout of each that shows what changed."""

    task: Row
    first: Row | None
    second: Row | None


def find_tasks(reader: Reader, values: Row, search: str) -> Row:
    """Return the tasks of both runs whose prompts contain a text, as values of the table."""
    if not search:
        return {}
    found = {}
    for side in ("first", "second"):
        wanted = {"run": values[side], "agent": values[f"{side}_agent"], "search": search}
        found[f"found_{side}"] = [row["task_index"] for row in reader.rows(Query(SEARCH, wanted))]
    return found


def read_tasks(
    reader: Reader, parameters: Mapping[str, str], values: Row, *, found: Row, rows: int = 0
) -> Listing:
    """Read one page of the table of tasks, without their prompts."""
    source = replace(SOURCE, rows=FOUND) if found else SOURCE
    source = replace(source, page_rows=rows or source.page_rows)
    return source.read_page(reader, source.state(parameters), {**values, **found})


def add_prompts(reader: Reader, tasks: list[Row], values: Row) -> None:
    """Add the beginnings of the prompts to tasks of both runs."""
    prompts = {side: _read_prompts(reader, tasks, values, side) for side in ("first", "second")}
    for row in tasks:
        row["prompt"] = prompts["first"].get(row["baseline_task_index"]) or prompts["second"].get(
            row["task_index"]
        )


def read_pair(reader: Reader, task: Row, values: Row) -> RolloutPair:
    """Choose a rollout of each run: one that passed where the task got worse, and one that failed.

    Where the task got better, it is the other way round.
    """
    is_better = (task["difference"] or 0) > 0 or task["change"] == "newly passing"

    def read(side: str, index: Any, direction: str) -> Row | None:
        wanted = {"run": values[side], "agent": values[f"{side}_agent"], "task": index}
        return reader.row(Query(ROLLOUT.format(direction=direction), wanted))

    return RolloutPair(
        task,
        read("first", task["baseline_task_index"], "asc" if is_better else "desc"),
        read("second", task["task_index"], "desc" if is_better else "asc"),
    )


def _read_prompts(reader: Reader, tasks: list[Row], values: Row, side: str) -> dict[int, str]:
    name = "baseline_task_index" if side == "first" else "task_index"
    indices = [row[name] for row in tasks if row[name] is not None]
    wanted = {"run": values[side], "agent": values[f"{side}_agent"], "tasks": indices}
    return {row["task_index"]: row["prompt"] for row in reader.rows(Query(PROMPTS, wanted))}
