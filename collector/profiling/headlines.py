"""Read the headlines of a profile from the marts, and lay them out for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from collector.terminal import counted_noun, label
from collector.warehouse.access import WAREHOUSE
from collector.warehouse.sql import Row, fetch_rows

SHOWN_AGENTS = 10
SHOWN_SLICES = 20
SHOWN_CLASSES = 5
LABELS = {
    "mean_reward": "mean reward",
    "pass_rate": "pass@1",
    "pass_at_k": "pass@{k}",
    "pass_hat_k": "pass^{k}",
    "max_at_k": "best of {k}",
    "min_at_k": "worst of {k}",
    "majority_at_k": "majority@{k}",
}
FINDINGS = {
    "is_output_empty": "with empty output",
    "is_truncated": "truncated",
    "is_usage_missing": "without usage",
    "is_response_repeated": "with a repeated response",
    "is_verdict_inconsistent": "whose answer got different rewards in its task",
    "is_ground_truth_suspect": "of tasks that nobody solves although the answers agree",
}
PLAIN = re.compile(r"[\w.:-]+")
ORDER = "list_position(" + str(list(LABELS)) + ", score)"
QUERIES = {
    "scores": f"""
        select * from {WAREHOUSE}.main.agent_scores where run_id = ?
        order by agent_name, slice_by != 'all', slice_by, slice_value, {ORDER}
    """,
    "reliability": f"""
        select * from {WAREHOUSE}.main.agent_reliability where run_id = ? order by agent_name
    """,
    "failures": f"""
        select * from {WAREHOUSE}.main.failures where run_id = ?
        order by agent_name, attempt_count desc, failure_class
    """,
    "masks": f"""
        select * from {WAREHOUSE}.main.mask_kinds where run_id = ?
        order by agent_name, rollout_count desc, failure_kind
    """,
    "efforts": f"""
        select * from {WAREHOUSE}.main.agent_efforts where run_id = ? order by agent_name
    """,
    "bands": f"""
        select run_id, agent_name, band, count(*) as task_count,
            count(*) filter (is_informative) as informative_task_count
        from {WAREHOUSE}.main.task_bands where run_id = ?
        group by all order by agent_name, band
    """,
    "health": f"""
        select run_id, agent_name,
            {", ".join(f"count(*) filter ({flag}) as {flag}" for flag in FINDINGS)},
            count(*) filter (finding_count > 0) as rollout_count
        from {WAREHOUSE}.main.rollout_health where run_id = ?
        group by all order by agent_name
    """,
}


@dataclass(frozen=True)
class Headlines:
    """What the statistics marts say of one run, as rows."""

    scores: list[Row]
    reliability: list[Row]
    failures: list[Row]
    masks: list[Row]
    efforts: list[Row]
    bands: list[Row]
    health: list[Row]

    def agents(self) -> list[str]:
        """Return the agents in order."""
        return [row["agent_name"] for row in self.reliability]

    def of(self, agent: str) -> Headlines:
        """Return what concerns one agent."""
        return Headlines(
            **{
                name: [row for row in getattr(self, name) if row["agent_name"] == agent]
                for name in QUERIES
            }
        )


def read_headlines(connection: duckdb.DuckDBPyConnection, run_id: str) -> Headlines:
    """Read the headlines of one run."""
    return Headlines(
        **{name: fetch_rows(connection, query, run_id) for name, query in QUERIES.items()}
    )


def as_text(headlines: Headlines, *, run_id: str, sql: str) -> Iterator[str]:
    """Lay out the headlines of one run, agent by agent, and how to see what they count."""
    agents = headlines.agents()
    for agent in agents[:SHOWN_AGENTS]:
        yield from _agent_text(agent, headlines.of(agent))
    run = f"run_id = '{run_id}'" if PLAIN.fullmatch(run_id) else "true"
    if len(agents) > SHOWN_AGENTS:
        more = counted_noun(len(agents) - SHOWN_AGENTS, "more agent")
        yield f'  … and {more}: {sql} "select * from agent_scores where {run}"'
        yield ""
    if headlines.bands:
        yield "  Which tasks to train on, and which rollouts to look at:"
        yield f'    {sql} "select * from task_bands where {run} order by learnability desc"'
        yield f'    {sql} "select * from rollout_health where {run} and finding_count > 0"'
        yield ""


def as_data(headlines: Headlines, agent: str) -> Row:
    """Return the headlines of one agent as plain data."""
    mine = headlines.of(agent)
    hidden = ("run_id", "agent_name")
    plain = {
        name: [{k: v for k, v in row.items() if k not in hidden} for row in getattr(mine, name)]
        for name in QUERIES
    }
    return {
        "scores": plain["scores"],
        "reliability": next(iter(plain["reliability"]), None),
        "failures": plain["failures"],
        "masks": plain["masks"],
        "effort": next(iter(plain["efforts"]), None),
        "bands": plain["bands"],
        "health": next(iter(plain["health"]), None),
    }


def masks_text(masks: list[Row]) -> str:
    """Say why rollouts were masked: the most frequent kinds with their numbers."""
    counts: Counter[str] = Counter()
    for row in masks:
        counts[row["failure_kind"]] += row["rollout_count"]
    shown = ", ".join(
        f"{count:,} {label(kind, 30)}" for kind, count in counts.most_common(SHOWN_CLASSES)
    )
    hidden = len(counts) - SHOWN_CLASSES
    return f"{shown} and {counted_noun(hidden, 'more kind')}" if hidden > 0 else shown


def range_text(headlines: Headlines) -> str:
    """Say what the mean reward could be with all rollouts there and measured, for a few agents."""
    rows = [
        row
        for row in headlines.reliability
        if row["missing_rollout_count"] or row["masked_rollout_count"]
    ]
    return ", ".join(
        f"{label(row['agent_name'])} {_number(row['reward_mean_lowest'])} to"
        f" {_number(row['reward_mean_highest'])}"
        for row in rows[:3]
        if row["reward_mean_lowest"] is not None
    )


def _agent_text(agent: str, mine: Headlines) -> Iterator[str]:
    overall = [row for row in mine.scores if row["slice_by"] == "all"]
    yield f"  {label(agent)}"
    yield from _scores_text(overall)
    yield from _more_text(overall)
    yield from _slices_text([row for row in mine.scores if row["slice_by"] != "all"])
    yield from _reliability_text(mine)
    yield from _efforts_text(mine.efforts)
    yield from _bands_text(mine.bands)
    yield from _health_text(mine.health)
    yield ""


def _scores_text(scores: list[Row]) -> Iterator[str]:
    by_score = {row["score"]: row for row in scores}
    if scores:
        yield f"    {'':14}   value  95% interval      std error  rerun noise  tasks"
    for name, row in by_score.items():
        # with rewards of 0 and 1 the best is a pass and the worst a failure
        twin = {"max_at_k": "pass_at_k", "min_at_k": "pass_hat_k"}.get(name)
        if twin and row["value"] == by_score[twin]["value"]:
            continue
        if row["k"] == 1:
            continue
        yield (
            f"    {LABELS[name].format(k=row['k']):14} {_number(row['value']):>7}"
            f"  {_interval(row):16}  {_number(row['std_error']):>9}"
            f"  {_number(row['rerun_std_error']):>11}  {row['task_count']:5}"
        )


def _more_text(scores: list[Row]) -> Iterator[str]:
    """Say what would make the mean reward surer, and whether its tasks have unequal repeats."""
    for row in scores:
        if row["score"] != "mean_reward":
            continue
        if row["std_error_double_repeats"] is not None:
            tasks, repeats = row["std_error_double_tasks"], row["std_error_double_repeats"]
            yield (
                f"    more data      std error {_number(tasks)} with twice the tasks,"
                f" {_number(repeats)} with twice the repeats"
            )
        if _number(row["value"]) != _number(row["rollout_value"]):
            yield (
                f"    unequal        tasks have unequal numbers of rollouts: over rollouts the mean"
                f" is {_number(row['rollout_value'])}"
            )


def _slices_text(scores: list[Row]) -> Iterator[str]:
    fields = dict.fromkeys(row["slice_by"] for row in scores)
    for field in fields:
        rows = [row for row in scores if row["slice_by"] == field and row["score"] == "mean_reward"]
        yield f"    mean reward by {label(field)}"
        for row in rows[:SHOWN_SLICES]:
            yield (
                f"      {label(row['slice_value'], 30):30}  {_number(row['value']):>7}"
                f"  {_interval(row):16}  {counted_noun(row['task_count'], 'task'):>9}"
            )
        if len(rows) > SHOWN_SLICES:
            yield f"      … and {len(rows) - SHOWN_SLICES} more in agent_scores"


def _reliability_text(mine: Headlines) -> Iterator[str]:
    for row in mine.reliability:
        classes = ", ".join(
            f"{label(failure['failure_class'], 30)} {failure['attempt_count']:,}"
            for failure in mine.failures[:SHOWN_CLASSES]
        )
        if len(mine.failures) > SHOWN_CLASSES:
            classes += f" and {len(mine.failures) - SHOWN_CLASSES} more classes"
        yield (
            f"    clean          {row['clean_rollout_count']:,} of"
            f" {counted_noun(row['expected_rollout_count'], 'rollout')}"
            + (f"; failed attempts: {classes}" if classes else "")
        )
        if row["masked_rollout_count"]:
            yield (
                f"    masked         {row['masked_rollout_count']:,} of"
                f" {counted_noun(row['completed_rollout_count'], 'completed rollout')}, which count"
                f" for no figure: {masks_text(mine.masks)}"
            )
        unknown = (
            row["missing_rollout_count"]
            + row["masked_rollout_count"]
            + row["unscored_rollout_count"]
        )
        if row["zero_rollout_count"] and row["reward_mean_with_zeros"] is not None:
            yield (
                f"    with zeros     the mean is {_number(row['reward_mean_with_zeros'])} with"
                f" {counted_noun(row['zero_rollout_count'], 'missing rollout')} counted as 0,"
                f" {_number(row['reward_mean'])} without"
            )
        if unknown and row["reward_mean_lowest"] is not None:
            yield (
                f"    {unknown:,} without a reward: the mean over all expected rollouts is"
                f" {_number(row['reward_mean_failures_as_zero'])} if they count as 0, and between"
                f" {_number(row['reward_mean_lowest'])} and {_number(row['reward_mean_highest'])}"
            )


def _efforts_text(efforts: list[Row]) -> Iterator[str]:
    """Say what a rollout took, as far as it is known."""
    for row in efforts:
        parts = [
            f"{row[name]:.{digits}f} {noun}"
            for name, noun, digits in (
                ("turn_count_mean", "turns", 1),
                ("tool_call_count_mean", "tool calls", 1),
            )
            if row[name]
        ]
        if row["latency_ms_mean"] is not None:
            parts.append(f"{row['latency_ms_mean'] / 1000:.1f} s")
        if row["cost_mean"] is not None:
            parts.append(f"cost {row['cost_mean']:.4g}")
        if parts:
            per_pass = row["cost_per_pass"]
            yield f"    a rollout      {', '.join(parts)}" + (
                f"; a pass costs {per_pass:.4g}" if per_pass is not None else ""
            )


def _bands_text(bands: list[Row]) -> Iterator[str]:
    total = sum(row["task_count"] for row in bands)
    informative = sum(row["informative_task_count"] for row in bands)
    counts = ", ".join(f"{row['task_count']:,} {row['band']}" for row in bands)
    if total:
        yield f"    tasks          {counts}; rewards differ in {informative:,} of {total:,}"


def _health_text(health: list[Row]) -> Iterator[str]:
    for row in health:
        for flag, text in FINDINGS.items():
            if row[flag]:
                yield f"    look at        {row[flag]:,} {text}"


def _interval(row: Row) -> str:
    if row["low"] is None:
        return "–"
    return f"{_number(row['low'])} … {_number(row['high'])}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"
