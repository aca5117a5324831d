"""Write runs from the rewards of their tasks, and curate them as a user would."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.programs import run_command
from tests.support import Profiled, Row, key, read_json, write_run

Outcomes = Sequence[float | None]
"""The rewards of a task; None is a masked rollout."""


def write_pool(
    folder: Path, tasks: Mapping[str, Outcomes], *, name: str = "pool", **marks: str
) -> Profiled:
    """Write a run from the rewards of its tasks by prompt; the category is the prompt's first word.

    A mark makes all rollouts of the task with that first word `empty` or `truncated`.
    """
    inputs, rollouts = [], []
    for task, (prompt, rewards) in enumerate(tasks.items()):
        category = prompt.split()[0]
        for index, reward in enumerate(rewards):
            asked = {"input": [{"role": "user", "content": prompt}]}
            inputs.append(key(task, index, responses_create_params=asked, category=category))
            rollouts.append(_rollout(task, index, reward, marks.get(category)))
    return write_run(folder, rollouts, inputs=inputs, name=name)


def _rollout(task: int, index: int, reward: float | None, mark: str | None) -> Row:
    text = f"answer {task} {index}"
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    response: Row = {
        "output": [] if mark == "empty" else [message],
        "usage": {"input_tokens": 10, "output_tokens": 100 + task, "total_tokens": 110 + task},
    }
    if mark == "truncated":
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    masked: Row = {"mask_sample": True, "reward": 0.0} if reward is None else {"reward": reward}
    return key(task, index, response=response, **masked)


def curate(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `spotter curate` in this process."""
    return run_command("spotter", "curate", *arguments, cwd=cwd)


def curated(
    run: str | Path, recipe: str, *options: str | Path, cwd: Path, output: str = "train.jsonl"
) -> Row:
    """Curate by the text of a recipe and return the manifest; fail if the command fails."""
    (cwd / "recipe.yml").write_text(recipe, encoding="utf-8")
    words = (run, "--recipe", "recipe.yml", "-o", output, "--overwrite", "--json", *options)
    result = curate(*words, cwd=cwd)
    assert result.returncode == 0, result.stderr
    data: Row = read_json(result.stdout)
    return data


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a curated file, in order."""
    return [read_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def prompts(path: Path) -> list[str]:
    """Return the prompts of a curated file, in order."""
    return [row["responses_create_params"]["input"][0]["content"] for row in rows_of(path)]


def annotated_rows(path: Path) -> list[Row]:
    """Return what `--annotate` added to the rows of a curated file, in order."""
    return [row["spotter"] for row in rows_of(path)]
