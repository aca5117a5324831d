"""Lay out the headlines of a profile for people."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator

from collector.profiling.headlines import FINDINGS, LABELS, Headlines
from collector.profiling.spread_text import constant_sentences, threshold_sentences
from collector.slice_order import sort_slices
from collector.terminal import counted_noun, duration_text, label
from collector.terminal.blocks import (
    Block,
    Fact,
    Line,
    Style,
    Styled,
    TextColumn,
    TextTable,
    Words,
)
from collector.warehouse.sql import Row, literal

SHOWN_AGENTS = 10
SHOWN_SLICES = 20
SHOWN_CLASSES = 5
# run ids that need no quoting in a shell
PLAIN_ID = re.compile(r"[\w.:-]+")
# with rewards of 0 and 1 the best is a pass and the worst a failure
TWINS = {"max_at_k": "pass_at_k", "min_at_k": "pass_hat_k"}
SCORE_COLUMNS = (
    TextColumn(width=13),
    TextColumn("value", 7, "right", "value"),
    TextColumn("95% interval", 16),
    TextColumn("std error", 9, "right", "quiet"),
    TextColumn("rerun noise", 11, "right", "quiet"),
    TextColumn("tasks", 5, "right", "quiet"),
)
SLICE_COLUMNS = (
    TextColumn(width=30, overflow="wrap"),
    TextColumn(width=7, align="right", style="value"),
    TextColumn(width=16),
    TextColumn(width=9, align="right", style="quiet"),
)


def headline_blocks(headlines: Headlines, *, run_id: str, sql: str) -> Iterator[Block]:
    """Lay out the headlines of one run, agent by agent, with `sql` queries that show the rows."""
    agents = headlines.agents()
    for agent in agents[:SHOWN_AGENTS]:
        yield from _agent_blocks(agent, headlines.only(agent))
    run = f"run_id = {literal(run_id)}"
    if len(agents) > SHOWN_AGENTS:
        more = counted_noun(len(agents) - SHOWN_AGENTS, "more agent")
        query = f"select agent_name, score, value, low, high from agent_scores where {run}"
        shown = Styled(_command(sql, query, run_id), "command")
        yield Line(
            (f"… and {more}: ", shown) if run_id.isprintable() else f"… and {more}", indent=2
        )
        yield Line()
    if headlines.bands and run_id.isprintable():
        tasks = (
            "select task_index, band, pass_count, rollout_count, learnability"
            f" from task_bands where {run} order by learnability desc"
        )
        rollouts = (
            "select task_index, rollout_index, reward, finding_count, answer"
            f" from rollout_health where {run} and finding_count > 0"
        )
        yield Line("Which tasks to train on, and which rollouts to look at:", indent=2)
        for query in (tasks, rollouts):
            yield Line(Styled(_command(sql, query, run_id), "command"), indent=4)
        yield Line()


def _command(sql: str, query: str, run_id: str) -> str:
    """Return a command to paste; quotes and dollars of an odd name stay what they are."""
    return f'{sql} "{query}"' if PLAIN_ID.fullmatch(run_id) else f"{sql} {shlex.quote(query)}"


def masks_text(masks: list[Row]) -> str:
    """Return the most frequent reasons why rollouts were masked, with their counts."""
    counts: Counter[str] = Counter()
    for row in masks:
        counts[row["failure_kind"]] += row["rollout_count"]
    frequent = ", ".join(
        f"{count:,} {label(kind, 30)}" for kind, count in counts.most_common(SHOWN_CLASSES)
    )
    hidden = len(counts) - SHOWN_CLASSES
    return f"{frequent} and {counted_noun(hidden, 'more kind')}" if hidden > 0 else frequent


def range_text(headlines: Headlines) -> str:
    """Return the bounds of the mean reward if every rollout were measured, for three agents."""
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


def _agent_blocks(agent: str, own: Headlines) -> Iterator[Block]:
    overall = [row for row in own.scores if row["slice_by"] == "all"]
    yield Line(Styled(label(agent), "heading"), indent=2)
    yield _score_table(overall)
    yield from _spread_facts(own.spreads)
    yield from _mean_facts(overall)
    yield from _slice_blocks([row for row in own.scores if row["slice_by"] != "all"])
    yield from _reliability_blocks(own)
    yield from _effort_facts(own.efforts)
    yield from _band_facts(own.bands)
    yield from _finding_facts(own.health)
    yield Line()


def _spread_facts(spreads: list[Row]) -> Iterator[Block]:
    for text in threshold_sentences(spreads):
        yield _fact("threshold", text, "caution")
    for text in constant_sentences(spreads):
        yield _fact("same reward", text, "caution")


def _score_table(scores: list[Row]) -> TextTable:
    by_score = {row["score"]: row for row in scores}
    rows = [
        (
            LABELS[name].format(k=row["k"]),
            _number(row["value"]),
            _interval(row),
            _number(row["std_error"]),
            _number(row["rerun_std_error"]),
            str(row["task_count"]),
        )
        for name, row in by_score.items()
        if row["k"] != 1 and not (name in TWINS and row["value"] == by_score[TWINS[name]]["value"])
    ]
    return TextTable(SCORE_COLUMNS, rows, indent=4)


def _mean_facts(scores: list[Row]) -> Iterator[Block]:
    """Say what would make the mean reward surer, and whether its tasks have unequal repeats."""
    for row in scores:
        if row["score"] != "mean_reward":
            continue
        if row["std_error_double_repeats"] is not None:
            tasks, repeats = row["std_error_double_tasks"], row["std_error_double_repeats"]
            yield _fact(
                "more data",
                f"std error {_number(tasks)} with twice the tasks,"
                f" {_number(repeats)} with twice the repeats",
            )
        if _number(row["value"]) != _number(row["rollout_value"]):
            yield _fact(
                "unequal",
                "tasks have unequal numbers of rollouts: over rollouts the mean is"
                f" {_number(row['rollout_value'])}",
            )


def _slice_blocks(scores: list[Row]) -> Iterator[Block]:
    for field in dict.fromkeys(row["slice_by"] for row in scores):
        rows = sort_slices(
            [row for row in scores if row["slice_by"] == field and row["score"] == "mean_reward"]
        )
        yield Line(("mean reward by ", Styled(label(field), "heading")), indent=4)
        cells = [
            (
                label(row["slice_value"], 30),
                _number(row["value"]),
                _interval(row),
                counted_noun(row["task_count"], "task"),
            )
            for row in rows[:SHOWN_SLICES]
        ]
        yield TextTable(SLICE_COLUMNS, cells, indent=6)
        if len(rows) > SHOWN_SLICES:
            yield Line(f"… and {len(rows) - SHOWN_SLICES} more in agent_scores", indent=6)


def _reliability_blocks(own: Headlines) -> Iterator[Block]:
    for row in own.reliability:
        yield _clean_fact(row, own.failures)
        if row["masked_rollout_count"]:
            completed = counted_noun(row["completed_rollout_count"], "completed rollout")
            yield _fact(
                "masked",
                (
                    Styled(f"{row['masked_rollout_count']:,} of {completed}", "caution"),
                    f", excluded from every figure: {masks_text(own.masks)}",
                ),
                "caution",
            )
        unknown = (
            row["missing_rollout_count"]
            + row["masked_rollout_count"]
            + row["unscored_rollout_count"]
        )
        if row["zero_rollout_count"] and row["reward_mean_with_zeros"] is not None:
            yield _fact(
                "with zeros",
                f"the mean is {_number(row['reward_mean_with_zeros'])} with"
                f" {counted_noun(row['zero_rollout_count'], 'missing rollout')} counted as 0,"
                f" {_number(row['reward_mean'])} without",
            )
        if unknown and row["reward_mean_lowest"] is not None:
            yield Fact(
                "",
                (
                    Styled(f"{unknown:,} without a reward", "caution"),
                    ": the mean over all expected rollouts is"
                    f" {_number(row['reward_mean_failures_as_zero'])} if they count as 0, and"
                    f" between {_number(row['reward_mean_lowest'])} and"
                    f" {_number(row['reward_mean_highest'])}",
                ),
                indent=4,
                width=0,
            )


def _clean_fact(row: Row, failures: list[Row]) -> Fact:
    classes = ", ".join(
        f"{label(failure['failure_class'], 30)} {failure['attempt_count']:,}"
        for failure in failures[:SHOWN_CLASSES]
    )
    if len(failures) > SHOWN_CLASSES:
        classes += f" and {len(failures) - SHOWN_CLASSES} more classes"
    clean, expected = row["clean_rollout_count"], row["expected_rollout_count"]
    count = Styled(
        f"{clean:,} of {counted_noun(expected, 'rollout')}",
        "good" if clean == expected else "caution",
    )
    return _fact("clean", (count, f"; failed attempts: {classes}" if classes else ""))


def _effort_facts(efforts: list[Row]) -> Iterator[Block]:
    """Say what a rollout took, as far as it is known."""
    for row in efforts:
        parts = [
            f"{row[name]:.1f} {noun}"
            for name, noun in (("turn_count_mean", "turns"), ("tool_call_count_mean", "tool calls"))
            if row[name]
        ]
        if row["latency_ms_mean"] is not None:
            parts.append(duration_text(row["latency_ms_mean"]))
        if row["cost_mean"] is not None:
            parts.append(f"cost {row['cost_mean']:.4g}")
        if parts:
            per_pass = row["cost_per_pass"]
            pass_cost = f"; a pass costs {per_pass:.4g}" if per_pass is not None else ""
            yield _fact("a rollout", ", ".join(parts) + pass_cost)


def _band_facts(bands: list[Row]) -> Iterator[Block]:
    total = sum(row["task_count"] for row in bands)
    informative = sum(row["informative_task_count"] for row in bands)
    counts = ", ".join(f"{row['task_count']:,} {row['band']}" for row in bands)
    if total:
        yield _fact("tasks", f"{counts}; rewards differ in {informative:,} of {total:,}")


def _finding_facts(health: list[Row]) -> Iterator[Block]:
    for row in health:
        for flag, text in FINDINGS.items():
            if row[flag]:
                yield _fact("look at", (Styled(f"{row[flag]:,}", "caution"), f" {text}"), "caution")


def _fact(name: str, text: Words, style: Style = "label") -> Fact:
    return Fact(name, text, indent=4, width=15, style=style)


def _interval(row: Row) -> str:
    if row["low"] is None:
        return "–"
    return f"{_number(row['low'])} … {_number(row['high'])}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"
