"""Lay out the comparisons of more than two runs for people."""

from __future__ import annotations

from collections.abc import Iterator

from collector.comparing.blocks import STYLES
from collector.comparing.leaderboard import Standing, leaderboards
from collector.comparing.request import ComparisonResult
from collector.comparing.trajectories import KINDS, MEANINGS, Trajectories
from collector.comparing.wording import (
    SCORE_NAMES,
    figure,
    interval_of,
    interval_text,
    p_text,
    p_value_of,
)
from collector.terminal import counted_noun, label
from collector.terminal.blocks import Block, Line, Styled, TextColumn, TextTable

SHOWN_TASKS = 10
NEW_CHANGES = ("newly failing", "newly passing")
BOARD_COLUMNS = (
    TextColumn("", align="right"),
    TextColumn("run", overflow="wrap"),
    TextColumn("value", align="right", style="value"),
    TextColumn("95% interval"),
    TextColumn("tasks", align="right", style="quiet"),
    TextColumn("letters"),
)
PAIR_COLUMNS = (
    TextColumn("run", overflow="wrap"),
    TextColumn("against", overflow="wrap"),
    TextColumn("difference", align="right", style="value"),
    TextColumn("interval"),
    TextColumn("p", align="right"),
    TextColumn("p by Holm", align="right"),
    TextColumn("tasks", align="right", style="quiet"),
    TextColumn("verdict"),
)


def leaderboard_blocks(result: ComparisonResult) -> Iterator[Block]:
    """Lay out the standings, and a line for each pair."""
    first = result.comparisons[0]
    for standings in leaderboards(result.comparisons):
        yield from _board_blocks(standings, SCORE_NAMES[first.score])
    if any(one.primary["baseline_only_task_count"] for one in result.comparisons) or any(
        one.primary["candidate_only_task_count"] for one in result.comparisons
    ):
        yield Line(
            "The runs have different tasks: each value is over the run's own tasks, each pair over"
            " the tasks that both have."
        )
        yield Line()
    yield from _setting_blocks(result)
    yield from _pair_blocks(result)


def trajectory_blocks(result: ComparisonResult, order_label: str) -> Iterator[Block]:
    """Lay out what happened to the tasks from the first run to the last."""
    trajectories = result.trajectories
    total = sum(trajectories.counts.values())
    yield Line(Styled(f"Over {label(order_label)}: {counted_noun(total, 'task')}", "heading"))
    rows = [
        (
            f"{trajectories.counts.get(kind, 0):,}",
            kind.replace("_", " "),
            MEANINGS[kind],
            _tasks(trajectories, kind),
        )
        for kind in KINDS
    ]
    columns = (
        TextColumn("", align="right", style="value"),
        TextColumn(),
        TextColumn("", overflow="wrap"),
        TextColumn("tasks of the last run", overflow="wrap"),
    )
    yield TextTable(columns, rows, indent=2)
    if undecided := trajectories.counts.get("undecided", 0):
        yield Line(
            f"{counted_noun(undecided, 'task')} with too few rollouts to tell: the bands of"
            " task_bands need about 16 repeats",
            indent=2,
        )
    for one in result.comparisons:
        if (one.baseline.run_id, one.candidate.run_id) == (result.run_ids[0], result.run_ids[-1]):
            failing, passing = (one.changes.get(kind, 0) for kind in NEW_CHANGES)
            counts = f"{failing:,} newly failing, {passing:,} newly passing tasks"
            yield Line(f"From the first run to the last: {counts}", indent=2)
    yield Line()


def _tasks(trajectories: Trajectories, kind: str) -> str:
    indices = [str(row["task_index"]) for row in trajectories.tasks if row["trajectory"] == kind]
    more = ", …" if trajectories.counts.get(kind, 0) > SHOWN_TASKS else ""
    return ", ".join(indices[:SHOWN_TASKS]) + more


def _board_blocks(standings: list[Standing], score: str) -> Iterator[Block]:
    yield Line(Styled(_summary(standings, score), "heading"))
    yield Line()
    rows = [
        (
            f"{place}",
            label(one.name),
            figure(one.value),
            interval_text(one.score["low"], one.score["high"]) if one.score else "–",
            f"{one.score['task_count']:,}" if one.score else "–",
            one.letters,
        )
        for place, one in enumerate(standings, start=1)
    ]
    yield TextTable(BOARD_COLUMNS, rows, indent=2)
    yield Line(
        Styled("Runs that share a letter cannot be told apart by these tasks.", "quiet"), indent=2
    )
    yield Line()


def _summary(standings: list[Standing], score: str) -> str:
    """Return one sentence about the best runs."""
    best = standings[0]
    equal = [one for one in standings[1:] if set(one.letters) & set(best.letters)]
    if not equal:
        return f"{label(best.name)} is the best of {len(standings)}: {score} {figure(best.value)}."
    names = ", ".join(label(one.name) for one in equal[:5])
    more = f" and {len(equal) - 5} more" if len(equal) > 5 else ""
    return (
        f"{label(best.name)} has the highest {score} of {len(standings)} ({figure(best.value)}),"
        f" but cannot be told apart from {names}{more}."
    )


def _setting_blocks(result: ComparisonResult) -> Iterator[Block]:
    """Lay out the settings in which a run differs from the first."""
    first = result.run_ids[0]
    rows = [
        (
            label(one.name, 40),
            label(comparison.candidate.name),
            label(one.candidate),
            label(one.baseline),
        )
        for comparison in result.comparisons
        if comparison.baseline.run_id == first
        for one in comparison.setting_differences
    ]
    if rows:
        columns = (
            TextColumn("differs", style="caution", overflow="wrap"),
            TextColumn("run", overflow="wrap"),
            TextColumn("value", overflow="wrap"),
            TextColumn(label(f"in {first}", 40), overflow="wrap"),
        )
        yield TextTable(columns, rows, indent=2)
        yield Line()


def _pair_blocks(result: ComparisonResult) -> Iterator[Block]:
    rows = [
        (
            label(one.candidate.name),
            label(one.baseline.name),
            figure(one.primary["difference"], is_signed=True),
            interval_text(*interval_of(one.primary)),
            p_text(p_value_of(one.primary)),
            p_text(one.primary["p_value_holm"]),
            f"{one.primary['task_count']:,}",
            Styled(one.primary["verdict"], STYLES[one.primary["verdict"]]),
        )
        for one in result.comparisons
    ]
    yield TextTable(PAIR_COLUMNS, rows, indent=2)
    yield Line()
