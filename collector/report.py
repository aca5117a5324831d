"""Tell what a profile found: for people on a terminal, as JSON for scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.artifacts import Run
from collector.profile import BrokenRunsError, Outcome

Row = dict[str, Any]
COUNTS = (
    "expected_rollout_count",
    "completed_rollout_count",
    "missing_rollout_count",
    "failed_attempt_count",
    "completion_pct",
    "task_count",
    "complete_task_count",
    "partial_task_count",
    "dropped_task_count",
    "skipped_value_count",
)
HEADLINE = ("reward", "input_tokens", "output_tokens", "total_tokens")


def as_text(outcome: Outcome) -> str:
    """Describe the runs and say where everything is."""
    parts = [part for run in outcome.runs for part in _run_text(run, outcome)]
    return "\n".join([*parts, f"Warehouse    {_short(outcome.warehouse)}"])


def as_data(outcome: Outcome) -> Row:
    """Return the same as plain data."""
    return {
        "warehouse": str(outcome.warehouse),
        "runs": [_run_data(run, outcome) for run in outcome.runs],
    }


def problems_as_data(error: BrokenRunsError) -> Row:
    """Return what is wrong with each broken run as plain data."""
    return {
        "errors": [
            {
                "run_id": problem.run.run_id,
                "rollouts": str(problem.run.rollouts),
                "kind": problem.kind,
                "count": problem.count,
                "keys": [list(key) for key in problem.keys],
                "message": problem.message,
            }
            for problem in error.problems
        ]
    }


def warnings(outcome: Outcome) -> Iterator[str]:
    """Say what was left out of the profile, if anything was."""
    for run in outcome.runs:
        counts = outcome.completion[run.run_id]
        if counts["missing_rollout_count"]:
            yield (
                f"{run.run_id} is partial: {counts['missing_rollout_count']} rollouts are missing"
                f" and {counts['dropped_task_count']} tasks dropped. Rollouts that finish first are"
                " usually the short ones, so these figures are biased"
            )
        if counts["skipped_value_count"]:
            yield (
                f"{run.run_id}: {counts['skipped_value_count']} values are not finite"
                " (NaN, Infinity or too large) and were skipped"
            )


class Progress:
    """One line on a terminal that says which model is being built; nothing elsewhere."""

    def __init__(self) -> None:
        """Look whether somebody is watching."""
        self._is_shown = sys.stderr.isatty()
        self._last = ""

    def __call__(self, done: int, total: int, name: str) -> None:
        """Show the step; waiting is told elsewhere too, once."""
        text = f"[{done}/{total}] {name}" if total else name
        if self._is_shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        elif name.startswith("waiting") and name != self._last:
            sys.stderr.write(f"{name}\n")
        self._last = name

    def clear(self) -> None:
        """Leave the line empty for what follows."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _run_text(run: Run, outcome: Outcome) -> Iterator[str]:
    counts = outcome.completion[run.run_id]
    yield f"Run          {run.run_id}"
    yield (
        f"Rollouts     {counts['completed_rollout_count']}/{counts['expected_rollout_count']}"
        f" ({counts['completion_pct']:.2f}%)"
        + (
            f", {counts['failed_attempt_count']} failed attempts"
            * bool(counts["failed_attempt_count"])
        )
    )
    yield (
        f"Tasks        {counts['task_count']}: {counts['complete_task_count']} complete,"
        f" {counts['partial_task_count']} partial, {counts['dropped_task_count']} dropped"
    )
    yield from _agents_text(outcome.agents[run.run_id])
    yield f"Profile      {_short(run.profiling)}"
    yield f"Agents       {_short(run.agents)}"
    yield ""


def _agents_text(metrics: list[Row]) -> Iterator[str]:
    agents = _agents_data(metrics)
    if not agents:
        return
    width = max(len(agent["agent_name"]) for agent in agents)
    yield f"\n  {'agent':{width}}  rollouts  reward mean      std      min      max  tokens mean"
    for agent in agents:
        reward = agent["metrics"].get("reward", {})
        tokens = agent["metrics"].get("total_tokens", {})
        figures = "  ".join(_figure(reward.get(stat)) for stat in ("std", "min", "max"))
        yield (
            f"  {agent['agent_name']:{width}}  {reward.get('count', 0):8}  "
            f"{_figure(reward.get('mean')):>11}  {figures}"
            f"  {_figure(tokens.get('mean'), '.1f'):>11}"
        )
    yield ""


def _figure(value: float | None, style: str = ".4f") -> str:
    return f"{'–' if value is None else format(value, style):>7}"


def _run_data(run: Run, outcome: Outcome) -> Row:
    counts = outcome.completion[run.run_id]
    return {
        "run_id": run.run_id,
        "rollouts": str(run.rollouts),
        "inputs": str(run.inputs),
        "reward_profiling": str(run.profiling),
        "agent_metrics": str(run.agents),
        **{name: counts[name] for name in COUNTS},
        "agents": _agents_data(outcome.agents[run.run_id]),
    }


def _agents_data(metrics: list[Row]) -> list[Row]:
    agents: dict[str, Row] = {}
    for row in metrics:
        agent = agents.setdefault(row["agent_name"], {})
        if row["metric"] in HEADLINE:
            agent[row["metric"]] = {
                stat: row[f"value_{stat}"]
                for stat in ("count", "mean", "max", "min", "median", "std")
            }
    return [{"agent_name": name, "metrics": found} for name, found in agents.items()]


def _short(path: Path) -> Path:
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
