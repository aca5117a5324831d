"""Word for people why tasks were chosen, and what that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collector.curating.manifest import FIGURES
from collector.curating.recipe import Recipe
from collector.terminal import counted_noun
from collector.warehouse.sql import Row

REASONS = {
    "within_bounds": "no rule speaks against them",
    "undecided": "the interval of the pass rate crosses a bound",
    "too_easy": "too easy: the pass rate is above the bounds",
    "too_hard": "too hard: the pass rate is below the bounds",
    "zero_variance": "zero variance: all rollouts have the same outcome",
    "unhealthy": "unhealthy: at least half of the rollouts are broken",
    "masked": "at least half of the rollouts are masked",
    "truncated": "at least half of the rollouts are truncated",
    "excluded": "in a file of `exclude`",
    "slice_limit": "over the limit of their slice",
    "target": "not needed for the distribution of pass rates",
    "limit": "over `at_most`, or over the shares of slices",
}
FATES = {"keep": "chosen", "top_up": "to top up", "drop": "dropped"}
"""What happens to a task, in the order in which people want to know."""


def figure_rows(figures: list[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield the figures of a manifest before and after, of all tasks, as texts."""
    stages = {row["stage"]: row for row in figures if row["slice_by"] == "all"}
    empty: Row = {**dict.fromkeys(FIGURES), "task_count": 0}
    pair = [stages.get(stage, empty) for stage in ("before", "after")]
    yield _texts("tasks", *(f"{row['task_count']:,}" for row in pair))
    yield _texts("mean pass rate", *(_number(row["pass_ratio_mean"], 3) for row in pair))
    for size in (8, 16):
        shares = (_share(row, f"informative_groups_{size}") for row in pair)
        yield _texts(f"informative groups of {size}", *shares)
        name = f"tokens_per_informative_group_{size}"
        yield _texts(f"tokens for one of {size}", *(_number(row[name], 0) for row in pair))


def _texts(name: str, before: str, after: str) -> tuple[str, str, str]:
    return name, before, after


def _share(row: Row, name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{100 * row[name] / row['task_count']:.1f}%"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def selection_warnings(
    recipe: Recipe, counts: Mapping[str, Any], shaped_task_count: int, pass_threshold: float
) -> Iterator[str]:
    """Yield what a person should know before training on the chosen tasks."""
    if shaped_task_count and recipe.outcome == "pass" and "zero_variance" in recipe.drop:
        yield (
            f"the rewards of {counted_noun(shaped_task_count, 'task')} differ although all"
            f" rollouts pass or all fail at the pass threshold {pass_threshold:g}: `zero_variance`"
            " drops these tasks; `outcome: reward` would keep them"
        )
    if undecided := counts["chosen_undecided"]:
        yield (
            f"of {counted_noun(counts['chosen'], 'chosen task')}, {undecided:,}"
            f" {'is' if undecided == 1 else 'are'} in only because undecided: the interval of the"
            " pass rate crosses a bound. `undecided: drop` leaves such tasks out, and `--plan` says"
            " how many more rollouts may decide them"
        )
    missing = counts["tasks"] - counts["candidates"]
    if missing:
        yield f"{counted_noun(missing, 'task')} of the run have no result, and are not chosen"
