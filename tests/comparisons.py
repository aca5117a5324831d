"""Write runs that share tasks by content, and compare them as a user would."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
