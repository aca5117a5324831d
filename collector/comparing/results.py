"""Read what the marts say about each pair of runs that was compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import duckdb

from collector.comparing.compare import ComparisonSettings, Pair
from collector.comparing.run_settings import SettingDifference, read_settings, setting_differences
from collector.comparing.second_verdicts import SecondVerdicts, read_second_verdicts
from collector.errors import UsageError
from collector.slice_order import sort_slices
from collector.suggestions import first_names
from collector.terminal import label
from collector.warehouse.sql import Row

SCORES = ("mean_reward", "pass_rate")
LISTED_TASKS = 100
FALLS = ("newly failing", "less often passing")
RISES = ("newly passing", "more often passing")
LONELY = ("only in baseline", "only in candidate")
PAIR = "baseline_run_id = ? and run_id = ?"
SIDES = f"{PAIR} and baseline_agent_name = ? and agent_name = ?"
MOST_MOVED = "moved_chance desc nulls last, abs(difference) desc nulls last, task_id, occurrence"
ORDER = "order by slice_by != 'all', slice_by, slice_value, score"


@dataclass(frozen=True)
class Side:
    """One of the two runs: its agent, its row of `runs` and its own scores."""

    name: str
    run: Row
    agent_name: str
    scores: list[Row]

    @property
    def run_id(self) -> str:
        """Return the id of the run."""
        return str(self.run["run_id"])

    def score(self, score: str, slice_by: str = "all", slice_value: str = "all") -> Row | None:
        """Return the row of `agent_scores` for a score and slice."""
        wanted = (score, slice_by, slice_value)
        rows = (r for r in self.scores if (r["score"], r["slice_by"], r["slice_value"]) == wanted)
        return next(rows, None)


@dataclass(frozen=True)
class Comparison:
    """Everything that the marts say about two runs and agents."""

    baseline: Side
    candidate: Side
    score: str
    """The score that the verdict is about."""
    rows: list[Row]
    efforts: list[Row]
    changes: dict[str, int]
    """The number of tasks by what happened to them."""
    tasks: list[Row]
    """The tasks that changed most surely, and those of one run only; the first of each kind."""
    setting_differences: list[SettingDifference] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    """The runs that have no record of the collector, so that less is known about their settings."""
    primary: Row = field(default_factory=dict)
    second_verdicts: SecondVerdicts | None = None
    """The two verdicts on each rollout, if the runs have the same rollouts."""

    @property
    def is_same_run(self) -> bool:
        """Tell whether both sides are the same rollouts."""
        one, other = self.baseline, self.candidate
        is_same_file = one.run["rollouts_path"] == other.run["rollouts_path"]
        return is_same_file and one.agent_name == other.agent_name

    def without_obstacles(self) -> Comparison:
        """Return the comparison with the verdicts that the obstacle took away."""
        rows = [judged_anyway(row) for row in self.rows]
        return replace(self, rows=rows, primary=judged_anyway(self.primary))

    def overall(self) -> list[Row]:
        """Return the rows over all tasks, the score of the verdict first."""
        rows = [row for row in self.rows if row["slice_by"] == "all"]
        return sorted(rows, key=lambda row: row["score"] != self.score)

    def slices(self) -> list[Row]:
        """Return the rows of the slices for the score of the verdict, field by field, in order."""
        return sort_slices(
            [r for r in self.rows if r["slice_by"] != "all" and r["score"] == self.score]
        )

    def tasks_with(self, changes: Sequence[str]) -> list[Row]:
        """Return the listed tasks to which one of these happened."""
        return [row for row in self.tasks if row["change"] in changes]


def judged_anyway(row: Row) -> Row:
    """Return a row of `run_comparisons` with its verdict whatever the obstacle."""
    return row | {"verdict": row["verdict_anyway"]}


def read_comparisons(
    connection: duckdb.DuckDBPyConnection,
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
    score: str,
    *,
    ignores_obstacles: bool = False,
) -> list[Comparison]:
    """Return the comparisons of the pairs, one for each pair of agents that were matched."""
    found = [
        comparison for pair in pairs for comparison in _read_pair(connection, pair, settings, score)
    ]
    return [one.without_obstacles() for one in found] if ignores_obstacles else found


def _read_pair(
    connection: duckdb.DuckDBPyConnection, pair: Pair, settings: ComparisonSettings, score: str
) -> list[Comparison]:
    ids = [pair.baseline_run_id, pair.candidate_run_id]
    agents = connection.execute(
        f"select distinct baseline_agent_name, agent_name from task_comparisons where {PAIR}"
        " order by all",
        ids,
    ).fetchall()
    runs = [_run(connection, run_id) for run_id in ids]
    if not agents:
        raise UsageError(_no_agents(connection, ids))
    is_named = len(agents) > 1 or (ids[0] == ids[1] and len(set(agents[0])) > 1)
    return [
        _read_sides(connection, _sides(connection, runs, names, is_named=is_named), settings, score)
        for names in agents
    ]


def _run(connection: duckdb.DuckDBPyConnection, run_id: str) -> Row:
    (row,) = _rows(connection, "select * from runs where run_id = ?", [run_id])
    return row


def _sides(
    connection: duckdb.DuckDBPyConnection,
    runs: list[Row],
    agents: tuple[str, str],
    *,
    is_named: bool,
) -> tuple[Side, Side]:
    baseline, candidate = (
        Side(
            name=f"{run['run_id']}/{agent}" if is_named else run["run_id"],
            run=run,
            agent_name=agent,
            scores=_rows(
                connection,
                "select * from agent_scores where run_id = ? and agent_name = ?",
                [run["run_id"], agent],
            ),
        )
        for run, agent in zip(runs, agents, strict=True)
    )
    return baseline, candidate


def _read_sides(
    connection: duckdb.DuckDBPyConnection,
    sides: tuple[Side, Side],
    settings: ComparisonSettings,
    score: str,
) -> Comparison:
    baseline, candidate = sides
    key = [baseline.run_id, candidate.run_id, baseline.agent_name, candidate.agent_name]
    rows = _rows(connection, f"select * from run_comparisons where {SIDES} {ORDER}", key)
    changes = dict(
        connection.execute(
            f"select change, count(*) from task_comparisons where {SIDES}"
            " group by change order by change",
            key,
        ).fetchall()
    )
    common = connection.execute(
        f"select baseline_task_index, task_index from task_comparisons where {SIDES}"
        " and baseline_task_index is not null and task_index is not null"
        " order by baseline_task_index limit 1",
        key,
    ).fetchone() or (None, None)
    known = [
        read_settings(connection, side.run, side.agent_name, index)
        for side, index in zip(sides, common, strict=True)
    ]
    primary = next((r for r in rows if r["slice_by"] == "all" and r["score"] == score), None)
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        score=score,
        rows=rows,
        efforts=_rows(
            connection,
            f"select * from effort_comparisons where {SIDES} order by measure, unit desc",
            key,
        ),
        changes=changes,
        tasks=_listed_tasks(connection, key),
        setting_differences=setting_differences(*known),
        unrecorded=[
            side.name for side, one in zip(sides, known, strict=True) if not one.has_record
        ],
        primary=primary or _row_without_tasks(connection, key, changes, settings, score),
        second_verdicts=read_second_verdicts(connection, key, [baseline.run, candidate.run]),
    )


def _listed_tasks(connection: duckdb.DuckDBPyConnection, key: list[str]) -> list[Row]:
    """Return the first tasks of each kind, those whose pass rate most surely moved first."""
    return _rows(
        connection,
        f"""
        select * from task_comparisons where {SIDES} and change != 'same'
        qualify row_number() over (
            partition by change
            order by {MOST_MOVED}
        ) <= {LISTED_TASKS}
        order by {MOST_MOVED}
        """,
        key,
    )


def _row_without_tasks(
    connection: duckdb.DuckDBPyConnection,
    key: list[str],
    changes: dict[str, int],
    settings: ComparisonSettings,
    score: str,
) -> Row:
    """Return the row of two runs that share no scored task: nothing can be said about them."""
    result = connection.execute("select * from run_comparisons limit 0")
    blank: Row = {column[0]: None for column in result.description or ()}
    only = [changes.get(change, 0) for change in LONELY]
    common = sum(changes.values()) - sum(only)
    names = ("baseline_run_id", "run_id", "baseline_agent_name", "agent_name")
    return {
        **blank,
        **dict(zip(names, key, strict=True)),
        "score": score,
        "slice_by": "all",
        "slice_value": "all",
        "verdict": "not comparable",
        "verdict_anyway": "not comparable",
        "observed_verdict": "inconclusive",
        "obstacle": "no_tasks",
        "task_count": 0,
        "unknown_rollout_count": 0,
        "common_task_count": common,
        "baseline_only_task_count": only[0],
        "candidate_only_task_count": only[1],
        "alpha": settings.alpha,
        "margin": settings.margin,
        "is_fixed_suite": settings.is_fixed_suite,
    }


def _no_agents(connection: duckdb.DuckDBPyConnection, run_ids: list[str]) -> str:
    """Say that no agents of two runs were matched, and how to name them."""
    lines = []
    for run_id in run_ids:
        agents = run_agents(connection, run_id)
        lines.append(f"  {label(run_id)} has: {first_names(agents) or 'no agent with results'}")
    return "\n".join(
        [
            f"{label(run_ids[0])} and {label(run_ids[1])} have no agent in common",
            *lines,
            "  what to do: name the agents to compare with --agent-a and --agent-b",
        ]
    )


def run_agents(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return the names of the agents of a run."""
    rows = connection.execute(
        "select distinct agent_name from agent_reliability where run_id = ? order by all", [run_id]
    ).fetchall()
    return [name for (name,) in rows]


def _rows(connection: duckdb.DuckDBPyConnection, query: str, key: list[str]) -> list[Row]:
    result = connection.execute(query, key)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
