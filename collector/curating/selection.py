"""Have the models of the selection choose tasks of a run, and read what they chose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from collector.errors import InvariantError
from collector.profiling.manifest import SELECTION
from collector.profiling.marts import check_marts
from collector.profiling.plan import load_plan
from collector.warehouse.access import SCRATCH, WAREHOUSE, attach_for_reading
from collector.warehouse.sql import Row, fetch_rows, literal

MARTS = f"{SCRATCH}.main"
NO_FILE = "/dev/null"
MOST_ROW_BYTES = 64 << 20


@dataclass(frozen=True)
class SelectedTask:
    """A task that was chosen, and what is known about it."""

    task_index: int
    rollout_index: int
    agent_name: str
    task_id: str
    rollout_count: int
    pass_ratio: float | None
    pass_low: float
    pass_high: float
    band: str
    change: str | None
    step: int | None


TASK_COLUMNS = ", ".join(SelectedTask.__annotations__)


@dataclass(frozen=True)
class Selection:
    """What a recipe makes of a run."""

    tasks: list[SelectedTask]
    reasons: list[Row]
    """How many tasks have each fate and reason."""
    totals: list[Row]
    """Tasks, pass rates and informative groups before and after, of all tasks and by slice."""
    histograms: list[Row]
    """How many candidates and chosen tasks are in each tenth of the pass rate."""
    changes: list[Row]
    shaped_task_count: int
    """Tasks whose rewards differ although all pass or all fail."""


def select_tasks(
    connection: duckdb.DuckDBPyConnection,
    warehouse: Path,
    declaration: dict[str, Any],
    excluded: Sequence[Path],
    *,
    progress: Callable[[str], None],
) -> Selection:
    """Choose tasks; the warehouse is only read. The marts stay in the memory of the connection."""
    _declare(connection, declaration, excluded)
    plan = load_plan()
    for seed in plan.seeds:
        connection.execute(f"create or replace table {seed.relation} as {seed.sql}")
    with attach_for_reading(connection, warehouse, on_wait=progress):
        check_marts(connection, warehouse, database=WAREHOUSE)
        for model in plan.room(SELECTION):
            progress(model.name)
            connection.execute(f"create or replace table {model.relation} as {model.sql}")
    _refuse_unreadable(connection)
    return _read(connection)


def read_plan(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return the tasks that need more rollouts, the cheapest first, after `select_tasks`."""
    return _rows(connection, "select * from planned_topups order by place")


def read_task_lists(connection: duckdb.DuckDBPyConnection, most: int) -> list[Row]:
    """Return the first tasks of each fate and reason, after `select_tasks`."""
    return _rows(
        connection,
        f"select fate, reason, list(task_index order by task_index)[:{most}] as task_indices"
        " from selected_tasks group by fate, reason",
    )


def _declare(
    connection: duckdb.DuckDBPyConnection, declaration: dict[str, Any], excluded: Sequence[Path]
) -> None:
    recipe = orjson.dumps([declaration]).decode()
    files = [str(path) for path in excluded] or [NO_FILE]
    connection.execute("set variable spotter_recipe = ?", [recipe])
    connection.execute(
        f"set variable spotter_excluded_files = [{', '.join(map(_exact_path, files))}]"
    )
    connection.execute("set variable spotter_max_row_bytes = ?", [MOST_ROW_BYTES])


def _exact_path(path: str) -> str:
    """Return a path as a literal that matches only this path."""
    return literal("".join(f"[{char}]" if char in "*?[" else char for char in path))


def _refuse_unreadable(connection: duckdb.DuckDBPyConnection) -> None:
    """Raise InvariantError if a line of an excluded file cannot be read: its task would stay in."""
    rows = _rows(
        connection,
        "select file_path, count(*) as line_count from"
        f" {SCRATCH}.staging.stg_excluded_tasks"
        " where not is_readable group by file_path order by file_path",
    )
    if rows:
        path, count = rows[0]["file_path"], rows[0]["line_count"]
        what = "line is not a JSON object" if count == 1 else "lines are not JSON objects"
        raise InvariantError(
            f"{path}: {count} {what}, so the tasks there cannot be excluded\n"
            "  what to do: mend the file, or take it out of `exclude`"
        )


def _read(connection: duckdb.DuckDBPyConnection) -> Selection:
    chosen = connection.execute(
        f"select {TASK_COLUMNS} from {MARTS}.selected_tasks"
        " where position is not null order by position"
    )
    tasks = [SelectedTask(*row) for row in _stream_rows(chosen)]
    shaped = "count(*) filter (is_zero_outcome_variance and not is_zero_variance)"
    counts = _rows(connection, f"select {shaped} as shaped_task_count from selected_tasks")[0]
    return Selection(
        tasks=tasks,
        reasons=_rows(
            connection,
            "select fate, reason, count(*) as task_count from selected_tasks"
            " group by fate, reason order by task_count desc, reason, fate",
        ),
        totals=_rows(
            connection,
            "select * from selection_totals"
            " order by slice_by != 'all', slice_by, slice_value, stage desc",
        ),
        histograms=_rows(connection, "select * from selection_histograms order by tenth"),
        changes=_rows(
            connection,
            "select change, count(*) as task_count,"
            " count(position) as chosen_task_count from selected_tasks"
            " where change is not null group by change order by change",
        ),
        **counts,
    )


def _stream_rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(10_000):
        yield from rows


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    connection.execute(f"use {MARTS}")
    return fetch_rows(connection, sql)
