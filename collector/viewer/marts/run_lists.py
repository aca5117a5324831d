"""The tables of a run's tasks and rollouts, with the columns that the run needs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from collector.keys import Key
from collector.viewer.marts import queries
from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import FILTER, ListingSource, LongTexts
from collector.viewer.marts.lists import ROLLOUT_KEY, ROLLOUT_LISTING, TASK_KEY, TASK_LISTING
from collector.viewer.marts.overview import read_agents
from collector.viewer.marts.slices import SliceField, read_slice_fields
from collector.viewer.marts.store import Query, Reader

MASK_COLUMNS = ("is_masked", "failure_kind", "failure_reason")
MOST_CHOICES = 200
MOST_METRICS = 12
PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
KINDS = """
    select distinct coalesce(failure_kind, '(unknown)') as choice from rollout_infos
    where run_id = $run and (is_measured is false or is_measured and failure_kind is not null)
    order by all
"""
VERDICTS = """
    select gym_verdict as choice from rollout_health
    where run_id = $run and gym_verdict is not null
    group by all order by all
"""
FLAGS = """
    select bool_or(answer is not null) as answer, {flags} from rollout_health where run_id = $run
"""
LACKING = """
    select
        missing_rollout_count > 0 as missing_rollout_count,
        coalesce(masked_rollout_count, 0) > 0 as masked_rollout_count
    from runs where run_id = $run
"""
NAMES = LongTexts(queries.NAMES, TASK_KEY, ("task_name",))
NAMED = NAMES.where("contains(lower(task_name), lower($search))")
# what the table shows anyway, or what the response reports about itself
METRICS = """
    select metric from agent_metrics
    where run_id = $run and metric != 'reward' and not contains(metric, '_tokens')
    group by metric
    order by metric
"""
SLICE_ROWS = """
    select task_index, agent_name, slice_value as {column} from task_slices
    where run_id = $run and slice_by_index = {index}
"""
# one text is a value that DuckDB takes fast, unlike a list of a hundred thousand pairs
FOUND = """(task_index, rollout_index) in (
    select split_part(one, ':', 1)::bigint, split_part(one, ':', 2)::bigint
    from (select unnest(string_split($found, ' ')) as one)
)"""
METRIC_ROWS = """
    select task_index, rollout_index, value as {column} from rollout_metrics
    where run_id = $run and metric = $name_of_{column}
"""


def task_source(reader: Reader, run_id: str, parameters: Mapping[str, str]) -> ListingSource:
    """Return the table of a run's tasks: with a column per slice, and with agents if several."""
    fields = read_slice_fields(reader, run_id)
    lacking = reader.row(Query(LACKING, {"run": run_id})) or {}
    unneeded = {
        name
        for name, is_needed in lacking.items()
        if not (is_needed or FILTER + name in parameters)
    }
    at = 1 + [column.name for column in TASK_LISTING.columns].index("agent_name")
    columns = list(TASK_LISTING.columns)
    columns[at:at] = [_slice_column(field) for field in fields]
    texts = [
        LongTexts(
            SLICE_ROWS.format(column=field.column, index=field.index), TASK_KEY, (field.column,)
        )
        for field in fields
    ]
    source = replace(
        TASK_LISTING,
        columns=tuple(column for column in columns if column.name not in unneeded),
        texts=(*TASK_LISTING.texts, *texts),
    )
    return _add_names(reader, run_id, source, parameters)


def rollout_source(
    reader: Reader, run_id: str, parameters: Mapping[str, str], found: Sequence[Key] = ()
) -> ListingSource:
    """Return the table of a run's rollouts: only columns that say something, and its metrics.

    `found` are the rollouts that a search has found outside of the marts.
    """
    values = {"run": run_id}
    kinds = [row["choice"] for row in reader.rows(Query(KINDS, values))]
    verdicts = [row["choice"] for row in reader.rows(Query(VERDICTS, values))]
    metrics = _metric_columns(reader, run_id)
    filtered = {name.removeprefix(FILTER) for name in parameters if name.startswith(FILTER)}
    unneeded = {*_unset_flags(reader, run_id), *([] if verdicts else ["gym_verdict"])} - filtered
    if not kinds and not filtered & {*MASK_COLUMNS}:
        unneeded |= {*MASK_COLUMNS}
    choices = {
        "failure_kind": _choices(kinds, parameters, "failure_kind"),
        "gym_verdict": _choices(verdicts, parameters, "gym_verdict"),
    }
    at = 1 + [column.name for column in ROLLOUT_LISTING.columns].index("answer")
    columns = [
        replace(column, choices=choices.get(column.name, column.choices))
        for column in ROLLOUT_LISTING.columns
    ]
    columns[at:at] = [ListingColumn(name, metric) for name, metric in metrics.items()]
    source = replace(
        ROLLOUT_LISTING,
        columns=tuple(column for column in columns if column.name not in unneeded),
        texts=(*ROLLOUT_LISTING.texts, *map(_metric_rows, metrics)),
        values={
            **{f"name_of_{name}": metric for name, metric in metrics.items()},
            **({"found": " ".join(f"{task}:{rollout}" for task, rollout in found)}),
        },
        search_also=FOUND if found else "",
    )
    return _add_names(reader, run_id, source, parameters)


def _add_names(
    reader: Reader, run_id: str, source: ListingSource, parameters: Mapping[str, str]
) -> ListingSource:
    """Return the table with the agents, and with the names of tasks if the run has any."""
    source = _add_agents(reader, run_id, source, parameters)
    is_filtered = parameters.get(f"{FILTER}task_name")
    if not (is_filtered or reader.row(Query(f"{queries.NAMES} limit 1", {"run": run_id}))):
        return source
    first, *others = source.columns
    return replace(
        source,
        columns=(first, ListingColumn("task_name", "Name", "text"), *others),
        texts=(*source.texts, NAMES),
        marts=(*source.marts, "task_profiles"),
        search_also=" or ".join(filter(None, (source.search_also, NAMED))),
    )


def _add_agents(
    reader: Reader, run_id: str, source: ListingSource, parameters: Mapping[str, str]
) -> ListingSource:
    """Return the table with the agents as choices of their filter.

    The column is left out if the run has one agent, unless the address filters by agent.
    """
    agents = _choices(read_agents(reader, run_id), parameters, "agent_name")
    is_needed = len(agents) > 1 or parameters.get(f"{FILTER}agent_name")
    columns = [
        replace(column, choices=agents) if column.name == "agent_name" else column
        for column in source.columns
        if is_needed or column.name != "agent_name"
    ]
    return replace(source, columns=tuple(columns))


def _choices(known: Iterable[str], parameters: Mapping[str, str], column: str) -> tuple[str, ...]:
    """Return the values of a column, with the one that the address filters by."""
    filtered = parameters.get(FILTER + column)
    return tuple(dict.fromkeys([*known, *([filtered] if filtered else [])]))


def _slice_column(field: SliceField) -> ListingColumn:
    if len(field.values) > MOST_CHOICES:
        return ListingColumn(field.column, field.name, "text", is_minor=True)
    choices = tuple(field.values)
    return ListingColumn(field.column, field.name, "choice", choices=choices, is_minor=True)


def _unset_flags(reader: Reader, run_id: str) -> list[str]:
    """Return the findings that no rollout of the run has, and the answer if none has one."""
    names = [
        column.name
        for column in ROLLOUT_LISTING.columns
        if column.kind == "flag" and column.name not in MASK_COLUMNS
    ]
    flags = ", ".join(f"bool_or({name}) as {name}" for name in names)
    found = reader.row(Query(FLAGS.format(flags=flags), {"run": run_id})) or {}
    return [name for name in (*names, "answer") if not found.get(name)]


def _metric_columns(reader: Reader, run_id: str) -> dict[str, str]:
    """Return the names of metrics that the environment or its verifier reported, by column."""
    rows = reader.rows(Query(METRICS, {"run": run_id}))
    return {_metric_column(row["metric"]): row["metric"] for row in rows[:MOST_METRICS]}


def _metric_column(metric: str) -> str:
    """Return a name that SQL and addresses can hold, the same for the same metric."""
    if PLAIN_NAME.fullmatch(metric):
        return f"metric_{metric}"
    return f"metric_{hashlib.md5(metric.encode(errors='replace')).hexdigest()[:12]}"


def _metric_rows(column: str) -> LongTexts:
    return LongTexts(METRIC_ROWS.format(column=column), ROLLOUT_KEY, (column,), is_text=False)
