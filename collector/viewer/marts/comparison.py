"""The figures and charts of the Compare page, from the comparison marts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from collector.comparing.results import judged_anyway
from collector.viewer.marts.charts import Chart, Series
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

PRIMARY = "mean_reward"
SCORE_LABELS = {"mean_reward": "Mean reward", "pass_rate": "Pass rate"}
MEASURE_LABELS = {
    "output_tokens": "Output tokens",
    "total_tokens": "All tokens",
    "turn_count": "Turns",
    "cost": "Cost",
}
CIRCLES = 1500
GRID = 40
SLICES = 200
PAIR = """run_id = $second and baseline_run_id = $first
        and agent_name = $second_agent and baseline_agent_name = $first_agent"""
SCORES = f"""
    select * from run_comparisons
    where {PAIR} and slice_by = 'all'
    order by score
"""
SLICE_ROWS = f"""
    select * from run_comparisons
    where {PAIR} and slice_by != 'all' and score = '{PRIMARY}'
    order by p_value_holm nulls last, p_value, slice_by, slice_value
"""
EFFORTS = f"""
    select * from effort_comparisons
    where {PAIR} and value is not null and baseline_value is not null
    order by list_position(['output_tokens', 'total_tokens', 'turn_count', 'cost'], measure),
        unit desc
"""
CHANGES = f"""
    select change, count(*) as task_count from task_comparisons
    where {PAIR}
    group by change
"""
VERDICTS = f"""
    select * from verdict_comparisons
    where {PAIR}
"""
VERDICT_CHANGES = f"""
    select task_index, rollout_index, change, baseline_reward, reward, difference
    from verdict_changes
    where {PAIR}
    order by change_rank
    limit 20
"""
# tasks with the same means are one circle; if the means are too many, so are the tasks of a square
CIRCLE_ROWS = f"""
    with tasks as (
        select baseline_reward_mean as a, reward_mean as b, baseline_task_index, task_index
        from task_comparisons
        where {PAIR} and difference is not null
    ),
    bounds as (
        select
            least(min(a), min(b)) as low,
            (greatest(max(a), max(b)) - least(min(a), min(b))) / $grid as width,
            count(distinct (a, b)) > $circles as is_grid
        from tasks
    ),
    placed as (
        select
            case when is_grid then low + (least(floor((a - low) / width), $grid - 1) + 0.5) * width
            else a end as baseline_reward_mean,
            case when is_grid then low + (least(floor((b - low) / width), $grid - 1) + 0.5) * width
            else b end as reward_mean,
            is_grid, width, baseline_task_index
        from tasks, bounds
    )
    select
        baseline_reward_mean, reward_mean, count(*) as task_count,
        min(baseline_task_index) as first_task,
        any_value(is_grid) as is_grid, any_value(width) as width
    from placed
    group by baseline_reward_mean, reward_mean
    order by task_count desc, baseline_reward_mean, reward_mean
"""


@dataclass(frozen=True)
class RunComparison:
    """The comparison of two runs, or of two agents."""

    values: Row
    scores: list[Row]
    slices: list[Row]
    efforts: list[Row]
    changes: dict[str, int]
    scatter: Chart
    verdicts: Row | None = None
    """How two verdicts on the same rollouts agree; None if the rollouts are not the same."""
    verdict_changes: list[Row] = field(default_factory=list)

    @property
    def main(self) -> Row | None:
        """Return the comparison that the verdict is about; None without a common task."""
        return next((row for row in self.scores if row["score"] == PRIMARY), None)

    @property
    def has_common_tasks(self) -> bool:
        """Tell whether a task is in both runs."""
        return any(count for name, count in self.changes.items() if not name.startswith("only"))

    def query(self, sql: str) -> Query:
        """Return a query of this comparison, for users to run."""
        return Query(sql, self.values)

    def without_obstacles(self) -> RunComparison:
        """Return the comparison with the verdicts that an obstacle took away."""
        scores, slices = (
            [judged_anyway(row) for row in rows] for rows in (self.scores, self.slices)
        )
        return replace(self, scores=scores, slices=slices)


def read_comparison(reader: Reader, values: Row, path: Callable[..., str]) -> RunComparison:
    """Read the comparison of two runs and agents; `path` gives the page's address with filters."""

    def rows(sql: str) -> list[Row]:
        return reader.rows(Query(sql, values))

    return RunComparison(
        values=values,
        scores=rows(SCORES),
        slices=rows(SLICE_ROWS),
        efforts=rows(EFFORTS),
        changes={row["change"]: row["task_count"] for row in rows(CHANGES)},
        scatter=_scatter(reader, values, path),
        verdicts=reader.row(Query(VERDICTS, values)),
        verdict_changes=rows(VERDICT_CHANGES),
    )


def _scatter(reader: Reader, values: Row, path: Callable[..., str]) -> Chart:
    query = Query(CIRCLE_ROWS, {**values, "grid": GRID, "circles": CIRCLES})
    rows = reader.rows(query)
    is_grid = bool(rows and rows[0]["is_grid"])

    def series(name: str, sign: int) -> Series:
        return Series(name, [row["reward_mean"] if _sign(row) == sign else None for row in rows])

    same = "about the same" if is_grid else "the same"
    shown = [series(same, 0), series("lower in B", -1), series("higher in B", 1)]
    grid = f"in one square of a grid of {GRID} × {GRID}"
    circle = f"A circle is the tasks {grid if is_grid else 'with the same means'}"
    return Chart(
        name="scatter",
        title="Mean reward of each task",
        kind="points",
        x_label="in A",
        y_label="in B",
        x=[row["baseline_reward_mean"] for row in rows],
        series=shown,
        query=query,
        rows=[{name: row[name] for name in list(row)[:3]} for row in rows],
        hrefs=[_href(row, path) for row in rows],
        labels=[_circle_label(row) for row in rows],
        sizes=[row["task_count"] for row in rows],
        has_diagonal=True,
        note=f"{circle}; a larger one is more tasks. Above the line, B is better.",
    )


def _sign(row: Row) -> int:
    change: float = row["reward_mean"] - row["baseline_reward_mean"]
    return (change > 1e-12) - (change < -1e-12)


def _circle_label(row: Row) -> str:
    count = row["task_count"]
    return f"task {row['first_task']} of A" if count == 1 else f"{count:,} tasks"


def _href(row: Row, path: Callable[..., str]) -> str:
    """Return the address of the table with the tasks of a circle."""
    half = row["width"] / 2 if row["is_grid"] else 1e-9

    def around(value: float) -> str:
        return f"{value - half:.10g}..{value + half:.10g}"

    filters = {
        "f.baseline_reward_mean": around(row["baseline_reward_mean"]),
        "f.reward_mean": around(row["reward_mean"]),
    }
    address = path(**filters)
    return f"{address}#tasks" if address else ""
