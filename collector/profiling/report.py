"""Report a profile: as blocks for people, as plain data for scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from collector.artifacts import Run
from collector.profiling import headlines
from collector.profiling.headline_blocks import headline_blocks
from collector.profiling.identity_blocks import files_text, identity_facts
from collector.profiling.problems import RunProblem
from collector.profiling.profile import Outcome
from collector.profiling.run_table import run_table
from collector.terminal import counted_noun, label, relative_path
from collector.terminal.blocks import Block, Fact, Line, Styled, TextColumn, TextTable

Row = dict[str, Any]
MOST_WHOLE_RUNS = 3
COUNTS = (
    "expected_rollout_count",
    "completed_rollout_count",
    "missing_rollout_count",
    "measured_rollout_count",
    "masked_rollout_count",
    "failed_attempt_count",
    "completion_pct",
    "task_count",
    "complete_task_count",
    "partial_task_count",
    "dropped_task_count",
    "masked_task_count",
    "is_fan_out",
    "skipped_value_count",
)
AGENT_COLUMNS = (
    TextColumn("agent", overflow="wrap"),
    TextColumn("rewards", 7, "right"),
    TextColumn("reward mean", 11, "right", "value"),
    TextColumn("std", 7, "right"),
    TextColumn("min", 7, "right"),
    TextColumn("max", 7, "right"),
    TextColumn("tokens mean", 11, "right"),
)


def as_blocks(outcome: Outcome, *, is_verbose: bool = False) -> list[Block]:
    """Describe the runs, and say where their files and the warehouse are.

    Many runs are a table of a line each, unless the command is verbose.
    """
    new = " (new)" if outcome.is_new_warehouse else ""
    warehouse = Fact("Warehouse", f"{relative_path(outcome.warehouse)}{new}")
    if is_short(outcome, is_verbose=is_verbose):
        return [run_table(outcome.overviews), Line(), *_next_steps(outcome), warehouse]
    return [*(block for run in outcome.runs for block in _run_blocks(run, outcome)), warehouse]


def is_short(outcome: Outcome, *, is_verbose: bool) -> bool:
    """Tell whether there are too many runs to show more than a line of each."""
    return len(outcome.runs) > MOST_WHOLE_RUNS and not is_verbose


def _next_steps(outcome: Outcome) -> Iterator[Block]:
    options = _warehouse_option(outcome.warehouse)
    yield Line("Look at one of them, at all of them, or at which differ:")
    yield Line(Styled(f"spotter runs show RUN{options}", "command"), indent=2)
    yield Line(Styled(f"spotter view{options}", "command"), indent=2)
    yield Line(Styled(f"spotter compare RUN RUN{options}", "command"), indent=2)
    yield Line()


def sql_command(warehouse: Path) -> str:
    """Return the words that a query of this warehouse begins with."""
    return f"spotter sql{_warehouse_option(warehouse)}"


def _warehouse_option(warehouse: Path) -> str:
    if warehouse == Path("warehouse.duckdb").absolute():
        return ""
    return f" -w {shlex.quote(relative_path(warehouse))}"


def as_data(outcome: Outcome) -> Row:
    """Return the runs, their figures and their files as plain data."""
    return {
        "warehouse": str(outcome.warehouse),
        "runs": [_run_data(run, outcome) for run in outcome.runs],
    }


def problems_as_data(problems: Iterable[RunProblem]) -> Row:
    """Return the problem of each broken run as plain data."""
    return {
        "errors": [
            {
                "run_id": problem.run.run_id,
                "rollouts": str(problem.run.rollouts),
                "kind": problem.kind,
                "count": problem.count,
                "keys": [list(key) for key in problem.keys],
                "lines": list(problem.lines),
                "message": problem.message,
            }
            for problem in problems
        ]
    }


def _run_blocks(run: Run, outcome: Outcome) -> Iterator[Block]:
    row = outcome.completion[run.run_id]
    yield Fact("Run", (Styled(run.run_id, "heading"), f"  ({files_text(row['rollouts_path'])})"))
    yield from identity_facts(row)
    yield from count_facts(outcome.completion[run.run_id])
    yield from _agent_blocks(outcome.agents[run.run_id])
    sql = sql_command(outcome.warehouse)
    yield from headline_blocks(outcome.headlines[run.run_id], run_id=run.run_id, sql=sql)
    if outcome.is_published and run.has_local_outputs:
        yield Fact("Profile", relative_path(run.profiling))
        yield Fact("Agents", relative_path(run.agents))
        yield Fact("Repeats", relative_path(run.repeats))
        yield Line()


def count_facts(counts: Row) -> Iterator[Block]:
    """Say how complete a run is."""
    completed, expected = counts["completed_rollout_count"], counts["expected_rollout_count"]
    failed, masked = counts["failed_attempt_count"], counts["masked_rollout_count"]
    fully_masked = counts["masked_task_count"]
    yield Fact(
        "Rollouts",
        (
            Styled(
                f"{completed}/{expected} ({counts['completion_pct']:.2f}%)",
                "good" if completed == expected else "caution",
            ),
            Styled(f", {masked:,} of them masked" if masked else "", "caution"),
            Styled(f", {counted_noun(failed, 'failed attempt')}" if failed else "", "caution"),
        ),
    )
    yield Fact(
        "Tasks",
        (
            f"{counts['task_count']}: {counts['complete_task_count']} complete, ",
            _problem_count(counts["partial_task_count"], "partial"),
            ", ",
            _problem_count(counts["dropped_task_count"], "dropped"),
            Styled(
                f", {fully_masked} with nothing but masked rollouts" if fully_masked else "",
                "caution",
            ),
        ),
    )


def _problem_count(count: int, adjective: str) -> str | Styled:
    text = f"{count} {adjective}"
    return Styled(text, "caution") if count else text


def _agent_blocks(metrics: list[Row]) -> Iterator[Block]:
    rows = []
    for agent in _agents_data(metrics):
        reward = agent["metrics"].get("reward", {})
        tokens = agent["metrics"].get("total_tokens", {})
        rows.append(
            (
                label(agent["agent_name"], 40),
                str(reward.get("count", 0)),
                *(_figure(reward.get(stat)) for stat in ("mean", "std", "min", "max")),
                _figure(tokens.get("mean"), ".1f"),
            )
        )
    yield Line()
    if rows:
        yield TextTable(AGENT_COLUMNS, rows, indent=2)
        yield Line()


def _figure(value: float | None, style: str = ".4f") -> str:
    if value is not None and abs(value) >= 1e9:
        style = ".4g"
    return "–" if value is None else format(value, style)


def _run_data(run: Run, outcome: Outcome) -> Row:
    counts = outcome.completion[run.run_id]
    metrics = {
        agent["agent_name"]: agent["metrics"] for agent in _agents_data(outcome.agents[run.run_id])
    }
    is_published = outcome.is_published and run.has_local_outputs
    return {
        "run_id": run.run_id,
        "rollouts": counts["rollouts_path"],
        "inputs": counts["inputs_path"],
        "reward_profiling": str(run.profiling) if is_published else None,
        "agent_metrics": str(run.agents) if is_published else None,
        "repeat_level_metrics": str(run.repeats) if is_published else None,
        **{name: counts[name] for name in COUNTS},
        "agents": [
            {
                "agent_name": agent,
                "metrics": metrics.get(agent, {}),
                **headlines.as_data(outcome.headlines[run.run_id], agent),
            }
            for agent in outcome.headlines[run.run_id].agents()
        ],
    }


def _agents_data(metrics: list[Row]) -> list[Row]:
    agents: dict[str, Row] = {}
    for row in metrics:
        agent = agents.setdefault(row["agent_name"], {})
        agent[row["metric"]] = {
            stat: row[f"value_{stat}"] for stat in ("count", "mean", "max", "min", "median", "std")
        }
    return [{"agent_name": name, "metrics": values} for name, values in agents.items()]
