"""Lay out a comparison of two runs for people."""

from __future__ import annotations

from collections.abc import Iterator

from collector.comparing.results import FALLS, LONELY, RISES, Comparison
from collector.comparing.second_verdict_blocks import second_verdict_blocks
from collector.comparing.wording import (
    SCORE_NAMES,
    confidence,
    explanations,
    figure,
    interval_of,
    interval_text,
    p_text,
    p_value_of,
    percent,
    verdict_sentence,
)
from collector.profiling.identity_blocks import identity_text
from collector.terminal import counted_noun, label
from collector.terminal.blocks import Block, Fact, Line, Style, Styled, TextColumn, TextTable
from collector.warehouse.sql import Row

SHOWN_TASKS = 10
SHOWN_SLICES = 30
STYLES: dict[str, Style] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "good",
    "inconclusive": "caution",
    "not comparable": "bad",
}
MEASURES = {
    "output_tokens": "output tokens",
    "total_tokens": "tokens",
    "turn_count": "turns",
    "cost": "cost",
}

TASK_COLUMNS = (
    TextColumn("task"),
    TextColumn("change"),
    TextColumn("passes before"),
    TextColumn("passes now"),
    TextColumn("chance that it moved", align="right"),
)
SLICE_COLUMNS = (
    TextColumn("", overflow="wrap"),
    TextColumn("before", align="right"),
    TextColumn("now", align="right"),
    TextColumn("difference", align="right", style="value"),
    TextColumn("interval"),
    TextColumn("p", align="right"),
    TextColumn("p by Holm", align="right"),
    TextColumn("tasks", align="right", style="quiet"),
    TextColumn("verdict"),
)
EFFORT_COLUMNS = (
    TextColumn("", overflow="wrap"),
    TextColumn("before", align="right"),
    TextColumn("now", align="right"),
    TextColumn("difference", align="right"),
    TextColumn("interval"),
    TextColumn("ratio", align="right", style="value"),
    TextColumn("interval"),
)


def comparison_blocks(comparison: Comparison) -> Iterator[Block]:
    """Lay out one comparison: the verdict first, then what it rests on."""
    yield from verdict_blocks(comparison)
    if comparison.second_verdicts:
        yield from second_verdict_blocks(comparison.second_verdicts)
    yield from _setting_blocks(comparison)
    yield from _score_blocks(comparison)
    yield from _reference_blocks(comparison)
    yield from _task_blocks(comparison)
    yield from _slice_blocks(comparison)
    if not comparison.second_verdicts:  # the same rollouts took the same effort
        yield from _effort_blocks(comparison)


def verdict_blocks(comparison: Comparison) -> Iterator[Block]:
    """Lay out the verdict, and the sentences that explain it."""
    style = STYLES[comparison.primary["verdict"]]
    yield Line(Styled(verdict_sentence(comparison), "heading" if style == "caution" else style))
    for text in explanations(comparison):
        yield Line(text)
    yield from _side_facts(comparison)
    yield Line()


def _side_facts(comparison: Comparison) -> Iterator[Block]:
    """Say which runs these are, if there is more to say than their names."""
    sides = {"before": comparison.baseline.run, "now": comparison.candidate.run}
    known = {name: identity_text(run) for name, run in sides.items()}
    for name, run in sides.items():
        if any(known.values()):
            text = f"{label(run['run_id'], 200)}{'  ' if known[name] else ''}{known[name]}"
            yield Fact(name, text, width=8, style="quiet")


def _setting_blocks(comparison: Comparison) -> Iterator[Block]:
    differences = comparison.setting_differences
    if differences:
        columns = (
            TextColumn("differs", style="caution", overflow="wrap"),
            TextColumn(label(comparison.baseline.name, 30), overflow="wrap"),
            TextColumn(label(comparison.candidate.name, 30), overflow="wrap"),
        )
        rows = [
            (label(one.name, 40), label(one.baseline), label(one.candidate)) for one in differences
        ]
        yield TextTable(columns, rows, indent=2)
    else:
        yield Line("No setting differs that the runs report.", indent=2)
    if comparison.unrecorded and not comparison.is_same_run:
        names = " and ".join(label(name) for name in comparison.unrecorded)
        yield Line(
            Styled(
                f"No record of the collector (<stem>_run.json) for {names}: prompt template,"
                " task file and environment were not compared.",
                "quiet",
            ),
            indent=2,
        )
    yield Line()


def _score_blocks(comparison: Comparison) -> Iterator[Block]:
    """Lay out each score on two lines, one per interval: both fit into a narrow window."""
    rows = comparison.overall()
    if not rows:
        return
    columns = (
        TextColumn(),
        TextColumn("before", align="right"),
        TextColumn("now", align="right"),
        TextColumn("change", align="right", style="value"),
        TextColumn("for"),
        TextColumn(f"{confidence(rows[0])} interval"),
        TextColumn("p", align="right"),
    )
    cells = [line for row in rows for line in _score_cells(row)]
    yield TextTable(columns, cells, indent=2)
    yield Line()


def _score_cells(row: Row) -> Iterator[tuple[str | Styled, ...]]:
    verdict = Styled(row["verdict"], STYLES[row["verdict"]])
    yield (
        SCORE_NAMES[row["score"]],
        figure(row["baseline_value"]),
        figure(row["value"]),
        figure(row["difference"], is_signed=True),
        "tasks like these",
        interval_text(row["low"], row["high"]),
        p_text(row["p_value"]),
    )
    if row.get("is_same_rollouts"):  # there is no second run whose noise could be told
        yield verdict, *[""] * 6
        return
    fixed = interval_text(row["fixed_low"], row["fixed_high"])
    yield verdict, "", "", "", "these tasks again", fixed, p_text(row["fixed_p_value"])


def _reference_blocks(comparison: Comparison) -> Iterator[Block]:
    row = comparison.primary
    if row["difference"] is None:
        return
    margin = f"{figure(row['margin'])}; intervals of {confidence(row)}, from {_method(row)}"
    yield _fact("margin", margin)
    yield _fact(
        "rollouts",
        f"{row['baseline_rollout_count']:,} and {row['rollout_count']:,}"
        + (f", {row['unknown_rollout_count']:,} unknown" if row["unknown_rollout_count"] else ""),
    )
    if row["noise_floor_std_error"] is not None:
        yield _fact(
            "noise floor",
            f"std error {figure(row['noise_floor_std_error'])} between"
            f" {label(comparison.baseline.name)} and itself, made again",
        )
    yield _fact("std error", f"{figure(row['std_error'])} paired{_unpaired_note(row)}")
    if row["gym_welch_low"] is not None:
        welch = interval_text(row["gym_welch_low"], row["gym_welch_high"])
        yield _fact("for reference", f"NeMo Gym's interval (unpaired, over repeats): {welch}")
    yield _fact(
        "clean",
        f"{percent(row['baseline_clean_ratio'])} and {percent(row['clean_ratio'])} of the rollouts",
    )
    yield Line()


def _method(row: Row) -> str:
    tests = {
        "t": "Student's t",
        "mcnemar": "an exact McNemar test",
        "permutation": "a sign-flip permutation test",
        "sign": "a sign test",
    }
    test = tests.get(row["test"], "no test")
    count = row["cluster_count"]
    return f"{test} over {count:,} clusters of {label(row['cluster_by'])}" if count else test


def _unpaired_note(row: Row) -> str:
    unpaired = row["unpaired_std_error"]
    return f", {figure(unpaired)} if the tasks were different ones" if unpaired is not None else ""


def _task_blocks(comparison: Comparison) -> Iterator[Block]:
    if not comparison.changes or comparison.is_same_run:
        return
    for title, kinds in (("Passing less often", FALLS), ("Passing more often", RISES)):
        count = sum(comparison.changes.get(kind, 0) for kind in kinds)
        if not count:
            continue
        new = comparison.changes.get(kinds[0], 0)
        yield Line(Styled(f"{title}: {counted_noun(count, 'task')}, {new:,} {kinds[0]}", "heading"))
        rows = comparison.tasks_with(kinds)[:SHOWN_TASKS]
        yield TextTable(TASK_COLUMNS, [_task_cells(row) for row in rows], indent=2)
        if count > len(rows):
            yield Line(f"… and {count - len(rows):,} more in task_comparisons", indent=2)
        yield Line()
    for kind, side in zip(LONELY, (comparison.baseline, comparison.candidate), strict=True):
        if count := comparison.changes.get(kind, 0):
            ids = ", ".join(row["task_id"] for row in comparison.tasks_with([kind])[:3])
            more = ", …" if count > 3 else ""
            tasks = counted_noun(count, "task")
            yield Line(f"{tasks} only in {label(side.name)}: {ids}{more}", indent=2)
    if unscored := comparison.changes.get("unscored", 0):
        tasks = counted_noun(unscored, "task")
        yield Line(f"{tasks} without a scored rollout in one of the runs", indent=2)
    if any(comparison.changes.get(kind, 0) for kind in (*LONELY, "unscored")):
        yield Line()


def _task_cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row['task_index']}",
        row["change"],
        _passes(row["baseline_pass_ratio"], row["baseline_rollout_count"]),
        _passes(row["pass_ratio"], row["rollout_count"]),
        percent(row["moved_chance"]),
    )


def _passes(ratio: float, count: int) -> str:
    return f"{round(ratio * count)} of {count}"


def _slice_blocks(comparison: Comparison) -> Iterator[Block]:
    slices = comparison.slices()
    for field in dict.fromkeys(row["slice_by"] for row in slices):
        rows = [row for row in slices if row["slice_by"] == field]
        name = SCORE_NAMES[comparison.score]
        yield Line((f"{name} by ", Styled(label(field), "heading")))
        cells = [_slice_cells(row) for row in rows[:SHOWN_SLICES]]
        yield TextTable(SLICE_COLUMNS, cells, indent=2)
        if len(rows) > SHOWN_SLICES:
            yield Line(f"… and {len(rows) - SHOWN_SLICES} more in run_comparisons", indent=2)
        yield Line()


def _slice_cells(row: Row) -> tuple[str | Styled, ...]:
    return (
        label(row["slice_value"], 30),
        figure(row["baseline_value"]),
        figure(row["value"]),
        figure(row["difference"], is_signed=True),
        interval_text(*interval_of(row)),
        p_text(p_value_of(row)),
        p_text(row["p_value_holm"]),
        f"{row['task_count']:,}",
        Styled(row["verdict"], STYLES[row["verdict"]]),
    )


def _effort_blocks(comparison: Comparison) -> Iterator[Block]:
    cells = [
        (
            f"{MEASURES[row['measure']]} per {row['unit']}",
            amount(row["baseline_value"], row["measure"]),
            amount(row["value"], row["measure"]),
            amount(row["difference"], row["measure"], sign="+"),
            "–"
            if row["low"] is None
            else f"{amount(row['low'], row['measure'])} to {amount(row['high'], row['measure'])}",
            f"× {figure(row['ratio'])}" if row["ratio"] is not None else "–",
            interval_text(row["ratio_low"], row["ratio_high"]),
        )
        for row in comparison.efforts
    ]
    if cells:
        yield Line(Styled("Effort", "heading"))
        yield TextTable(EFFORT_COLUMNS, cells, indent=2)
        yield Line()


def amount(value: float | None, measure: str, *, sign: str = "") -> str:
    """Return an effort with one decimal, a cost with four significant digits."""
    if value is None:
        return "–"
    return format(value, f"{sign}.4g" if measure == "cost" else f"{sign},.1f")


def _fact(name: str, text: str) -> Fact:
    return Fact(name, text, indent=2, width=15)
