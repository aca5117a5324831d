"""Fill the marts that a comparison reads, without any file, and compare runs in one build."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from collector.comparing.compare import ComparisonSettings, Pair, build_comparisons
from collector.profiling.marts import prepare
from collector.profiling.plan import load_plan
from collector.warehouse.access import transaction
from collector.warehouse.scratch import open_scratch
from tests.support import Row

AGENT = "agent_a"
KEYS = ("run_id", "agent_name", "task_index")
DEFAULTS = {"VARCHAR": "''", "BOOLEAN": "false", "TIMESTAMP": "timestamp '2026-01-01'"}
EFFORTS = ("output_tokens_mean", "total_tokens_mean", "turn_count_mean", "cost_mean")


@dataclass(frozen=True)
class Task:
    """A task of a run: the rewards of its scored rollouts, and how many are unknown."""

    task_id: str
    rewards: Sequence[float]
    missing: int = 0
    masked: int = 0
    unscored: int = 0
    slices: Mapping[str, str] = field(default_factory=dict)
    efforts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """A run of one agent, as the marts hold it."""

    run_id: str
    tasks: Sequence[Task]
    agent_name: str = AGENT
    dropped: int = 0
    clean_ratio: float = 1.0
    repeat_means: Sequence[float] = ()


def task_rows(run: Run, threshold: float = 1) -> list[Row]:
    """The figures of a run's tasks that `task_profiles` and `task_bands` would have."""
    return [
        {
            "run_id": run.run_id,
            "agent_name": run.agent_name,
            "task_index": index,
            "task_id": task.task_id,
            "measured_rollout_count": len(task.rewards) + task.unscored,
            "missing_rollout_count": task.missing,
            "masked_rollout_count": task.masked,
            "rollout_count": len(task.rewards),
            "pass_count": sum(reward >= threshold for reward in task.rewards),
            **_reward_stats(task.rewards),
            **{name: task.efforts.get(name) for name in EFFORTS},
        }
        for index, task in enumerate(run.tasks)
    ]


def _reward_stats(rewards: Sequence[float]) -> Row:
    if not rewards:
        return dict.fromkeys(("reward_mean", "reward_min", "reward_max", "reward_std"))
    return {
        "reward_mean": sum(reward / len(rewards) for reward in rewards),
        "reward_min": min(rewards),
        "reward_max": max(rewards),
        "reward_std": statistics.stdev(rewards) if len(rewards) > 1 else 0.0,
    }


def slice_rows(run: Run) -> list[Row]:
    return [
        dict(zip(KEYS, (run.run_id, run.agent_name, index), strict=True))
        | {"slice_by": name, "slice_value": value}
        for index, task in enumerate(run.tasks)
        for name, value in task.slices.items()
    ]


def write_runs(path: Path, runs: Sequence[Run]) -> None:
    """Create a warehouse with these runs."""
    repeats = [
        {
            "run_id": run.run_id,
            "agent_name": run.agent_name,
            "rollout_index": index,
            "metric": "reward",
            "value_mean": mean,
        }
        for run in runs
        for index, mean in enumerate(run.repeat_means)
    ]
    agents = [
        {"run_id": run.run_id, "agent_name": run.agent_name, "clean_ratio": run.clean_ratio}
        for run in runs
    ]
    write_marts(
        path,
        tasks=pd.DataFrame([row for run in runs for row in task_rows(run)]),
        slices=pd.DataFrame([row for run in runs for row in slice_rows(run)]),
        agents=pd.DataFrame(agents),
        dropped={run.run_id: run.dropped for run in runs},
        repeats=pd.DataFrame(repeats),
    )


def write_marts(
    path: Path,
    *,
    tasks: pd.DataFrame,
    slices: pd.DataFrame,
    agents: pd.DataFrame,
    dropped: Mapping[str, int],
    repeats: pd.DataFrame,
) -> None:
    """Create a warehouse whose marts hold these frames; other columns get a default."""
    with (
        open_scratch(None, path.parent / "spill") as connection,
        transaction(connection, path, on_wait=_ignore),
    ):
        prepare(connection, load_plan(), path)
    runs = pd.DataFrame({"run_id": list(dropped), "dropped_task_count": list(dropped.values())})
    tasks = tasks.assign(is_informative=tasks["reward_max"] > tasks["reward_min"])
    with duckdb.connect(str(path)) as connection:
        insert_mart_rows(connection, "runs", runs)
        insert_mart_rows(connection, "agent_reliability", agents)
        insert_mart_rows(connection, "task_profiles", tasks)
        insert_mart_rows(connection, "task_bands", tasks)
        insert_mart_rows(connection, "task_slices", slices)
        insert_mart_rows(connection, "repeat_metrics", repeats)


def insert_mart_rows(connection: duckdb.DuckDBPyConnection, mart: str, rows: pd.DataFrame) -> None:
    if rows.empty:
        return
    connection.register("given", rows)
    columns = connection.execute(f"select name, type, \"notnull\" from pragma_table_info('{mart}')")
    selected = {
        name: name if name in rows.columns else DEFAULTS.get(kind, "0")
        for name, kind, is_required in columns.fetchall()
        if name in rows.columns or is_required
    }
    names, values = ", ".join(selected), ", ".join(selected.values())
    connection.execute(f"insert into {mart} ({names}) select {values} from given")
    connection.unregister("given")


def compare(path: Path, pairs: Iterable[tuple[str, str]], **settings: Any) -> None:
    """Compare pairs of runs, each a baseline and a candidate."""
    with open_scratch(None, path.parent / "spill") as connection:
        build_comparisons(
            connection,
            path,
            [Pair(baseline, candidate) for baseline, candidate in pairs],
            ComparisonSettings(**settings),
            progress=_ignore,
        )


def rows_of(path: Path, mart: str, condition: str = "true") -> list[Row]:
    with duckdb.connect(str(path), read_only=True) as connection:
        result = connection.execute(f"select * from {mart} where {condition} order by all")
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _ignore(_message: str) -> None:
    """Comparisons report their progress."""
