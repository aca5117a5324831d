"""Report a profile: as blocks for people, as plain data for scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.artifacts import Run
from collector.profiling import headlines
from collector.profiling.headline_blocks import headline_blocks, masks_text, range_text
from collector.profiling.profile import BrokenRunsError, Outcome
from collector.terminal import counted_noun, label, printable_lines, relative_path
from collector.terminal.blocks import Block, Fact, Line, Styled, TextColumn, TextTable

Row = dict[str, Any]
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


def as_blocks(outcome: Outcome) -> list[Block]:
    """Describe the runs, and say where their files and the warehouse are."""
    new = " (new)" if outcome.is_new_warehouse else ""
    return [
        *(block for run in outcome.runs for block in _run_blocks(run, outcome)),
        Fact("Warehouse", f"{relative_path(outcome.warehouse)}{new}"),
    ]


def as_data(outcome: Outcome) -> Row:
    """Return the runs, their figures and their files as plain data."""
    return {
        "warehouse": str(outcome.warehouse),
        "runs": [_run_data(run, outcome) for run in outcome.runs],
    }


def problems_as_data(error: BrokenRunsError) -> Row:
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
            for problem in error.problems
        ]
    }


def warnings(outcome: Outcome) -> Iterator[str]:
    """Return a warning for everything that the figures leave out or that makes them doubtful."""
    for run in outcome.runs:
        counts = outcome.completion[run.run_id]
        name = label(run.run_id)
        if not counts["expected_rollout_count"]:
            yield f"{name} is empty: its inputs ask for no rollout"
        if counts["missing_rollout_count"]:
            yield (
                f"{name} is partial: {counted_noun(counts['missing_rollout_count'], 'rollout')}"
                f" missing, {counted_noun(counts['dropped_task_count'], 'task')} dropped. Rollouts"
                " that finish first are usually the short ones, so these figures are biased"
            )
        if counts["masked_rollout_count"]:
            masked, completed = counts["masked_rollout_count"], counts["completed_rollout_count"]
            why = masks_text(outcome.headlines[run.run_id].masks)
            yield (
                f"{name}: the environment masked {masked:,} of"
                f" {counted_noun(completed, 'completed rollout')}: {why}."
                " They are excluded from every figure"
            )
        if counts["missing_rollout_count"] or counts["masked_rollout_count"]:
            possible = range_text(outcome.headlines[run.run_id])
            if possible:
                yield f"{name}: with all rollouts measured, the mean could be: {possible}"
        if counts["stopping_rule"]:
            yield (
                f"{name} was collected with --until {counts['stopping_rule']}: tasks got no more"
                " repeats once their band was decided, so their pass rates and the mean reward are"
                " biased"
            )
        if counts["skipped_value_count"]:
            skipped = counted_noun(counts["skipped_value_count"], "value")
            yield f"{name}: skipped {skipped}: not finite (NaN, Infinity or too large)"
        yield from _price_warnings(run, outcome)
        yield from _zero_warnings(run, outcome)
    if outcome.outdated:
        older = counted_noun(len(outcome.outdated), "run")
        shown = "".join(f"\n  spotter profile {shlex.quote(path)}" for path in outcome.outdated[:5])
        yield (
            "an earlier version of Spotter, which counted masked rollouts too, profiled"
            f" {older} of this warehouse. Profile again before you compare:{printable_lines(shown)}"
        )


def _price_warnings(run: Run, outcome: Outcome) -> Iterator[str]:
    """Warn of rollouts without a cost, if there are prices."""
    rows = [row for row in outcome.unpriced if row["run_id"] == run.run_id]
    if rows:
        count = sum(row["rollout_count"] for row in rows)
        models = ", ".join(label(row["model_name"] or "(none)", 40) for row in rows[:5])
        yield (
            f"{label(run.run_id)}: {counted_noun(count, 'rollout')} without a cost, of the models"
            f" {models}: the price file does not name them, or they report no tokens"
        )


def _zero_warnings(run: Run, outcome: Outcome) -> Iterator[str]:
    """Warn of failure classes to count as 0 that no missing rollout has: perhaps misspelt."""
    rows = outcome.headlines[run.run_id]
    zeros = outcome.statistics.zeros
    has_zeros = any(row["zero_rollout_count"] for row in rows.reliability)
    if zeros and zeros.failure_classes and not has_zeros:
        names = ", ".join(label(name, 40) for name in zeros.failure_classes)
        classes = sorted({label(row["failure_class"], 30) for row in rows.failures})
        yield (
            f"{label(run.run_id)}: no missing rollout ended with the failure class {names};"
            f" the classes of its failures are: {', '.join(classes[:10]) or 'none'}"
        )


def _run_blocks(run: Run, outcome: Outcome) -> Iterator[Block]:
    yield Fact("Run", (Styled(run.run_id, "heading"), f"  ({relative_path(run.rollouts)})"))
    yield from _count_facts(outcome.completion[run.run_id])
    yield from _agent_blocks(outcome.agents[run.run_id])
    sql = "spotter sql"
    if outcome.warehouse != Path("warehouse.duckdb").absolute():
        sql += f" -w {shlex.quote(relative_path(outcome.warehouse))}"
    yield from headline_blocks(outcome.headlines[run.run_id], run_id=run.run_id, sql=sql)
    if outcome.is_published:
        yield Fact("Profile", relative_path(run.profiling))
        yield Fact("Agents", relative_path(run.agents))
        yield Fact("Repeats", relative_path(run.repeats))
        yield Line()


def _count_facts(counts: Row) -> Iterator[Block]:
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
    return {
        "run_id": run.run_id,
        "rollouts": str(run.rollouts),
        "inputs": str(run.inputs),
        "reward_profiling": str(run.profiling) if outcome.is_published else None,
        "agent_metrics": str(run.agents) if outcome.is_published else None,
        "repeat_level_metrics": str(run.repeats) if outcome.is_published else None,
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
