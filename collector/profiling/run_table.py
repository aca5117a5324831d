"""The table of runs that `spotter runs` and a profile of many runs show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from collector.profiling.known_runs import stored_tags
from collector.terminal import label
from collector.terminal.blocks import Styled, TextColumn, TextTable, Words
from collector.warehouse.sql import Row

NAME_CHARACTERS = 200
MODEL_CHARACTERS = 32
RUN_COLUMNS = (
    TextColumn("run", style="label", overflow="cut"),
    TextColumn("model", overflow="cut"),
    TextColumn("agent", overflow="cut"),
    TextColumn("tasks × repeats", align="right"),
    TextColumn("mean reward", align="right", style="value"),
    TextColumn("95% interval"),
    TextColumn("clean", align="right"),
    TextColumn("collected"),
    TextColumn("tags", overflow="wrap"),
)
# left out where no run has anything to tell
OPTIONAL = ("agent", "tags")


def run_table(overviews: Sequence[Row]) -> TextTable:
    """Return a line for each run and agent."""
    shares = {row["run_id"] for row in overviews if row["agent_name"]}
    has_agents = len({(row["run_id"], row["agent_name"]) for row in overviews}) > len(shares)
    has_tags = any(stored_tags(row) for row in overviews)
    shown = {"agent": has_agents, "tags": has_tags}
    numbers = [
        number
        for number, column in enumerate(RUN_COLUMNS)
        if column.title not in OPTIONAL or shown[column.title]
    ]
    return TextTable(
        [RUN_COLUMNS[number] for number in numbers],
        [[cells[number] for number in numbers] for cells in map(_cells, overviews)],
    )


def tags_text(tags: dict[str, str]) -> str:
    """Return tags in one line."""
    return ", ".join(f"{name}={value}" for name, value in tags.items())


def _cells(row: Row) -> list[Words]:
    mean, clean = row["reward_mean"], row["clean_ratio"]
    return [
        label(row["run_id"], NAME_CHARACTERS),
        label(row["model_names"] or "–", MODEL_CHARACTERS),
        label(row["agent_name"] or "–", MODEL_CHARACTERS),
        shape_text(row),
        "–" if mean is None else f"{mean:.4g}",
        "–" if row["reward_low"] is None else f"{row['reward_low']:.4g} … {row['reward_high']:.4g}",
        "–" if clean is None else Styled(f"{clean:.1%}", "good" if clean == 1 else "caution"),
        time_text(row["collection_ended_at"]),
        label(tags_text(stored_tags(row)), NAME_CHARACTERS),
    ]


def shape_text(row: Row) -> str:
    """Return how many tasks there are, and how often each was tried: `50 × 16`."""
    tasks, repeats = row["expected_task_count"] or row["task_count"], row["repeat_count_mean"]
    if not tasks or repeats is None:
        return str(tasks or 0)
    return f"{tasks:,} × {f'{repeats:.1f}'.removesuffix('.0')}"


def time_text(time: datetime | None) -> str:
    """Return a time in UTC to the minute."""
    return f"{time:%Y-%m-%d %H:%M}" if time else "–"
