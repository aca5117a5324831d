"""The figures and charts of a run's page, for one of its agents."""

from __future__ import annotations

from dataclasses import dataclass

from collector.profiling.headlines import LABELS, ORDER
from collector.profiling.spread_text import constant_sentences, threshold_sentences
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.charts import Chart
from collector.viewer.marts.findings import FINDINGS
from collector.viewer.marts.run_charts import (
    length_chart,
    pass_at_k_chart,
    pass_rate_chart,
    reward_chart,
    slice_charts,
)
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row


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
    doubts: list[str]
    """Sentences about rewards that hardly ever pass, or that are all the same."""

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


def read_overview(reader: Reader, run: Row, agent: str | None, links: Links) -> Overview:
    """Read the overview of a run and one of its agents; the first agent if it has no such agent."""
    agents = read_agents(reader, run["run_id"])
    chosen = agent if agent in agents else next(iter(agents), "")
    values = {"run": run["run_id"], "agent": chosen}
    own = chosen if len(agents) > 1 else None

    def read(sql: str) -> QueryRows:
        query = Query(sql, values)
        return QueryRows(reader.rows(query), query)

    length, spreads = read(queries.LENGTH), read(queries.SPREADS).rows
    charts = [
        reward_chart(reader, values, links, agent=own),
        pass_rate_chart(reader, values, links, agent=own),
        pass_at_k_chart(reader, values),
        length_chart(
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
        slices=slice_charts(reader, values, links, agent=own),
        doubts=[*threshold_sentences(spreads), *constant_sentences(spreads)],
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
