"""The figures and charts of a run's page, for one of its agents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from collector.profiling.headlines import LABELS, ORDER
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.charts import Chart, Series
from collector.viewer.marts.findings import FINDINGS
from collector.viewer.marts.listing import FILTER, ListingSource
from collector.viewer.marts.store import Query, Reader
from collector.viewer.text import number
from collector.warehouse.sql import Row

POINTS = 2000
RANKS = 400
RATES_NOTE = "The whiskers (or the shaded band, if there are many tasks) are 95 % intervals."


@dataclass(frozen=True)
class QueryRows:
    """The rows of a query, with the query."""

    rows: list[Row]
    query: Query


@dataclass(frozen=True)
class Overview:
    """The figures and charts of a run and one of its agents."""

    run: Row
    agents: list[str]
    agent: str
    scores: QueryRows
    reliability: QueryRows
    bands: QueryRows
    failures: QueryRows
    health: QueryRows
    gym_verdicts: QueryRows
    masks: QueryRows
    run_masks: QueryRows
    efforts: QueryRows
    length: QueryRows
    charts: list[Chart]
    slices: list[Chart]

    @property
    def task_count(self) -> int:
        """Return the number of the agent's tasks that have a reward."""
        return max((row["task_count"] for row in self.scores.rows), default=0)


def read_run(reader: Reader, run_id: str) -> Row | None:
    """Return the row of a run, or None if there is no such run."""
    return reader.row(Query(queries.RUN, {"run": run_id}))


def read_agents(reader: Reader, run_id: str) -> list[str]:
    """Return the names of a run's agents in alphabetical order."""
    query = "select agent_name from agent_reliability where run_id = $run order by agent_name"
    return [row["agent_name"] for row in reader.rows(Query(query, {"run": run_id}))]


def add_agent_choices(
    reader: Reader, run: Row, source: ListingSource, parameters: Mapping[str, str]
) -> ListingSource:
    """Return the table with the agents as choices of their filter.

    The column is left out if the run has one agent, unless the address filters by agent.
    """
    filtered = parameters.get(f"{FILTER}agent_name")
    agents = dict.fromkeys([*read_agents(reader, run["run_id"]), *([filtered] if filtered else [])])
    is_needed = len(agents) > 1 or filtered
    columns = [
        replace(column, choices=tuple(agents)) if column.name == "agent_name" else column
        for column in source.columns
        if is_needed or column.name != "agent_name"
    ]
    return replace(source, columns=tuple(columns))


def read_overview(reader: Reader, run: Row, agent: str | None, links: Links) -> Overview:
    """Read the overview of a run and one of its agents; the first agent if it has no such agent."""
    agents = read_agents(reader, run["run_id"])
    chosen = agent if agent in agents else next(iter(agents), "")
    values = {"run": run["run_id"], "agent": chosen}
    own = chosen if len(agents) > 1 else None

    def read(sql: str) -> QueryRows:
        query = Query(sql, values)
        return QueryRows(reader.rows(query), query)

    length = read(queries.LENGTH)
    charts = [
        _reward_chart(reader, values),
        _pass_rate_chart(reader, values, links, agent=own),
        _pass_at_k_chart(reader, values),
        _length_chart(
            reader, values, links, total=length.rows[0]["rollout_count"] if length.rows else 0
        ),
    ]
    return Overview(
        run=run,
        agents=agents,
        agent=chosen,
        scores=read(queries.SCORES.format(order=ORDER)),
        reliability=read(queries.RELIABILITY),
        bands=read(queries.BANDS),
        failures=read(queries.FAILURES),
        health=QueryRows(_findings(read(queries.HEALTH).rows), Query(queries.HEALTH, values)),
        gym_verdicts=read(queries.GYM_VERDICTS),
        masks=read(queries.MASK_KINDS),
        run_masks=read(queries.RUN_MASKS),
        efforts=read(queries.EFFORTS),
        length=length,
        # with one attempt per task, pass@k adds nothing to the scores
        charts=[chart for chart in charts if chart.x and (chart.name != "attempts" or chart.x[1:])],
        slices=_slice_charts(reader, values),
    )


def score_label(row: Row) -> str:
    """Return the usual name of a score, such as pass@4."""
    return str(LABELS.get(row["score"]) or row["score"]).format(k=row["k"])


def _findings(rows: list[Row]) -> list[Row]:
    counts = rows[0] if rows else {}
    return [
        {"finding": flag, "label": finding.label, "rollout_count": counts[flag]}
        for flag, finding in FINDINGS.items()
        if counts.get(flag)
    ]


def _reward_chart(reader: Reader, values: Row) -> Chart:
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
    )


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


def _pass_rate_chart(reader: Reader, values: Row, links: Links, *, agent: str | None) -> Chart:
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


def _pass_at_k_chart(reader: Reader, values: Row) -> Chart:
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


def _length_chart(reader: Reader, values: Row, links: Links, *, total: int) -> Chart:
    query = Query(queries.POINTS, {**values, "points": POINTS})
    rows = reader.rows(query)
    run = values["run"]
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
        note=_sample_note(len(rows), total, "rollouts, chosen by a hash of their keys"),
    )


def _slice_charts(reader: Reader, values: Row) -> list[Chart]:
    query = Query(queries.SLICES, values)
    rows = reader.rows(query)
    return [
        _slice_chart([row for row in rows if row["slice_by"] == name], name, query)
        for name in dict.fromkeys(row["slice_by"] for row in rows)
    ]


def _slice_chart(rows: list[Row], name: str, query: Query) -> Chart:
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
