"""The charts of a run's page, for one of its agents; bars and points open what they show."""

from __future__ import annotations

import math
from collections.abc import Callable

from collector.slice_order import sort_slices
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.charts import Chart, Series
from collector.viewer.marts.listing import FILTER
from collector.viewer.marts.slices import read_slice_fields
from collector.viewer.marts.store import Query, Reader
from collector.viewer.text import number
from collector.warehouse.sql import Row

LAST_BIN = 19
POINTS = 2000
RANKS = 400
FEW_REWARDS = 8
JITTER_NOTE = "The points of a reward are spread around it at random."
RATES_NOTE = "The whiskers (or the shaded band, if there are many tasks) are 95 % intervals."


def reward_chart(reader: Reader, values: Row, links: Links, *, agent: str | None) -> Chart:
    """Return the histogram of rewards; a bar opens its rollouts."""
    query = Query(queries.HISTOGRAM, values)
    rows = reader.rows(query)
    bins = {row["bin_index"]: row for row in rows}
    places = sorted(bins)
    if rows and not rows[0]["is_single_value"]:  # the mart has no rows for empty bins
        places = list(range(max(bins) + 1))
    return Chart(
        name="rewards",
        title="Rewards",
        kind="bars",
        x_label="reward",
        y_label="rollouts",
        x=[_bin_label(rows[0], place, bins.get(place)) for place in places],
        series=[Series("rollouts", [_bin_count(bins.get(place)) for place in places])],
        query=query,
        rows=rows,
        hrefs=[
            links.rollouts(values["run"], **_bin_filter(bins[place], agent))
            if place in bins
            else ""
            for place in places
        ],
    )


def _bin_filter(row: Row, agent: str | None) -> dict[str, str | None]:
    """Return the filters of the table of rollouts that show what a bar counts."""
    low, high = row["bin_low"], row["bin_high"]
    # only the last bin of the mart includes its upper bound
    between = ".." if row["bin_index"] == LAST_BIN else "..<"
    reward = f"{low!r}" if row["is_single_value"] else f"{low!r}{between}{high!r}"
    return {f"{FILTER}reward": reward, f"{FILTER}agent_name": agent}


def _bin_count(row: Row | None) -> int:
    return row["rollout_count"] if row else 0


def _bin_label(known: Row, place: int, row: Row | None) -> str:
    if row and row["is_single_value"]:
        return f"{row['bin_low']:g}"
    width = known["bin_high"] - known["bin_low"]
    low = row["bin_low"] if row else known["bin_low"] + (place - known["bin_index"]) * width
    # use enough digits to tell one bound from the next
    size = max(abs(low), abs(low + width))
    digits = 3 if not width else 2 + max(1, math.ceil(math.log10(max(1.0, size / width))))
    return f"{low:.{digits}g} to {low + width:.{digits}g}"


def pass_rate_chart(reader: Reader, values: Row, links: Links, *, agent: str | None) -> Chart:
    """Return the pass rate of each task, best first; a bar opens its task."""
    query = Query(queries.TASK_RATES, {**values, "ranks": RANKS})
    rows = reader.rows(query)
    total = rows[0]["task_count"] if rows else 0
    sample_note = _sample_note(len(rows), total, "tasks, evenly spaced by rank")
    return Chart(
        name="pass-rates",
        title="Pass rate per task",
        kind="bars",
        x_label="tasks, best first",
        y_label="pass rate",
        x=[row["rank"] for row in rows],
        series=[_bounded_series("pass rate", rows, "pass_ratio", "pass_low", "pass_high")],
        query=query,
        rows=rows,
        hrefs=[links.task(values["run"], row["task_index"], agent=agent) for row in rows],
        labels=[f"task {row['task_index']}" for row in rows],
        note=f"{sample_note} {RATES_NOTE}".strip(),
        y_max=1,
    )


def pass_at_k_chart(reader: Reader, values: Row) -> Chart:
    """Return pass@k and pass^k by the number of attempts."""
    query = Query(queries.ATTEMPTS, values)
    rows = reader.rows(query)

    def series(name: str, column: str) -> Series:
        return _bounded_series(name, rows, column, f"{column}_low", f"{column}_high")

    return Chart(
        name="attempts",
        title="Pass@k",
        kind="lines",
        x_label="k, attempts per task",
        y_label="share of tasks",
        x=[row["k"] for row in rows],
        series=[
            series("pass@k: one of k passes", "pass_at_k"),
            series("pass^k: all k pass", "pass_hat_k"),
        ],
        query=query,
        rows=rows,
        note="The bands are 95 % intervals.",
        y_max=1,
    )


def length_chart(reader: Reader, values: Row, links: Links, *, total: int) -> Chart:
    """Return rewards against output tokens; a point opens its rollout."""
    query = Query(queries.POINTS, {**values, "points": POINTS})
    rows = reader.rows(query)
    run, sample = values["run"], "rollouts, chosen by a hash of their keys"
    # points of a few rewards would lie on top of each other
    is_jittered = len({row["reward"] for row in rows}) <= FEW_REWARDS < len(rows)
    jitter = JITTER_NOTE if is_jittered else ""
    return Chart(
        name="lengths",
        title="Reward and length",
        kind="points",
        x_label="output tokens",
        y_label="reward",
        x=[row["output_tokens"] for row in rows],
        series=[Series("reward", [row["reward"] for row in rows])],
        query=query,
        rows=rows,
        hrefs=[links.rollout(run, row["task_index"], row["rollout_index"]) for row in rows],
        labels=[f"rollout {row['task_index']}:{row['rollout_index']}" for row in rows],
        note=f"{_sample_note(len(rows), total, sample)} {jitter}".strip(),
        is_jittered=is_jittered,
    )


def slice_charts(reader: Reader, values: Row, links: Links, *, agent: str | None) -> list[Chart]:
    """Return the mean rewards by each field of the slices; a bar opens its tasks."""
    query = Query(queries.SLICES, values)
    rows = reader.rows(query)
    columns = {field.name: field.column for field in read_slice_fields(reader, values["run"])}

    def address(row: Row) -> str:
        column = columns.get(row["slice_by"])
        filters = {f"{FILTER}{column}": row["slice_value"], f"{FILTER}agent_name": agent}
        return links.tasks(values["run"], **filters) if column else ""

    return [
        _slice_chart(
            sort_slices([row for row in rows if row["slice_by"] == name]), name, query, address
        )
        for name in dict.fromkeys(row["slice_by"] for row in rows)
    ]


def _slice_chart(rows: list[Row], name: str, query: Query, address: Callable[[Row], str]) -> Chart:
    return Chart(
        name=f"slice-{name}",
        title=f"Mean reward by {name}",
        kind="bars",
        x_label=name,
        y_label="mean reward",
        x=[row["slice_value"] for row in rows],
        series=[_bounded_series("mean reward", rows, "value", "low", "high")],
        query=query,
        rows=rows,
        hrefs=[address(row) for row in rows],
        labels=[f"{number(row['task_count'])} tasks" for row in rows],
        note="The whiskers are 95 % intervals.",
    )


def _bounded_series(name: str, rows: list[Row], value: str, low: str, high: str) -> Series:
    """Return the values of three columns as a series with its intervals."""
    return Series(
        name,
        [row[value] for row in rows],
        [row[low] for row in rows],
        [row[high] for row in rows],
    )


def _sample_note(shown: int, total: int, how: str) -> str:
    return f"{shown:,} of {total:,} {how}." if shown < total else ""
