"""Write runs that share tasks by content, and compare them as a user would."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collector.comparing.results import Comparison, Side
from tests.programs import run_command
from tests.support import Profiled, Row, key, read_json, write_run

Rewards = Mapping[str, Sequence[float | None]]


def write_tasks(
    folder: Path,
    name: str,
    rewards: Rewards,
    *,
    tokens: int = 100,
    params: Row | None = None,
    **fields: Any,
) -> Profiled:
    """Write a run from the rewards of its tasks by their text; None is a missing rollout.

    The category of a task is the word before the space in its text.
    """
    inputs, rollouts = [], []
    for task, (text, values) in enumerate(rewards.items()):
        for index, reward in enumerate(values):
            asked = {"input": text, **(params or {})}
            category = text.split()[0]
            inputs.append(key(task, index, responses_create_params=asked, category=category))
            if reward is not None:
                usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": tokens + task}
                response = {"output": [], "usage": usage, **fields}
                rollouts.append(key(task, index, reward=reward, response=response))
    return write_run(folder, rollouts, inputs=inputs, name=name)


def compare(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `spotter compare` in this process."""
    return run_command("spotter", "compare", *arguments, cwd=cwd)


def compared(*arguments: str | Path, cwd: Path) -> Row:
    """Compare runs and return the JSON; fail if the command fails."""
    result = compare(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    data: Row = read_json(result.stdout)
    return data


def made_comparison(
    *, rows: Sequence[Row] = (), efforts: Sequence[Row] = (), **figures: Any
) -> Comparison:
    """Return a comparison of `before` and `after` whose verdict has these figures."""
    primary: Row = {**FIGURES, **figures}
    sides = [
        Side(name, {"run_id": name, "rollouts_path": f"/{name}.jsonl"}, "agent", list(scores))
        for name, scores in (("before", ()), ("after", [{**primary, "low": 0.5, "high": 0.6}]))
    ]
    return Comparison(
        baseline=sides[0],
        candidate=sides[1],
        score=primary["score"],
        rows=[primary, *({**FIGURES, **row} for row in rows)],
        efforts=list(efforts),
        changes={},
        tasks=[],
        primary=primary,
    )


FIGURES: Row = {
    "score": "mean_reward",
    "slice_by": "all",
    "slice_value": "all",
    "verdict": "better",
    "verdict_anyway": "better",
    "observed_verdict": "better",
    "obstacle": None,
    "task_count": 200,
    "unknown_rollout_count": 0,
    "baseline_value": 0.499,
    "value": 0.57,
    "difference": 0.071,
    "std_error": 0.02,
    "low": 0.031,
    "high": 0.111,
    "p_value": 0.0006,
    "p_value_holm": 0.0012,
    "fixed_std_error": 0.01,
    "fixed_low": 0.051,
    "fixed_high": 0.091,
    "fixed_p_value": 0.0001,
    "lowest_low": None,
    "highest_high": None,
    "interval_method": "t",
    "cluster_by": None,
    "cluster_count": None,
    "detectable_difference": 0.056,
    "tasks_needed": 6272,
    "repeats_needed": 31,
    "tokens_needed": 1234567.0,
    "common_task_count": 200,
    "common_task_ratio": 1.0,
    "baseline_only_task_count": 0,
    "candidate_only_task_count": 0,
    "baseline_clean_ratio": 1.0,
    "clean_ratio": 1.0,
    "alpha": 0.05,
    "margin": 0.01,
    "is_fixed_suite": False,
}
