"""Lay out for people what was chosen, and what was planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.curating.curate import CurateResult, manifest_path
from collector.curating.recipe import Recipe
from collector.curating.selection import Selection
from collector.curating.topup import PlanResult
from collector.curating.wording import FATES, REASONS, figure_rows, selection_warnings
from collector.terminal import counted_noun, label, relative_path
from collector.terminal.blocks import Block, Fact, Line, Styled, TextColumn, TextTable

CHANGES = {
    "newly_solved": "newly solved",
    "newly_learnable": "newly learnable",
    "forgotten": "forgotten",
    "same": "as before",
    "unclear": "undecided now or before",
    "new": "not in the earlier run",
}
BAR = 24
REASON_COLUMNS = (
    TextColumn("", style="label"),
    TextColumn("tasks", align="right", style="value"),
    TextColumn("why", overflow="wrap"),
)
HISTOGRAM_COLUMNS = (
    TextColumn("pass rate"),
    TextColumn("before", align="right", style="value"),
    TextColumn("", width=BAR, style="quiet"),
    TextColumn("after", align="right", style="value"),
    TextColumn("", style="good"),
)
FIGURE_COLUMNS = (
    TextColumn("", style="label"),
    TextColumn("before", align="right"),
    TextColumn("after", align="right", style="value"),
)


def curate_blocks(result: CurateResult) -> Iterator[Block]:
    """Lay out the choice: reasons, histograms of the pass rate, and figures before and after."""
    counts = result.manifest["counts"]
    yield Fact(
        "Curated",
        f"{relative_path(result.output)}  ({counted_noun(counts['chosen'], 'task')}"
        f" of {counts['tasks']:,} in {label(result.run.run_id)})",
    )
    yield Fact("Manifest", str(relative_path(manifest_path(result.output))))
    yield Line()
    yield TextTable(REASON_COLUMNS, list(_reason_rows(result.selection)), indent=2)
    yield Line()
    yield TextTable(
        HISTOGRAM_COLUMNS, list(_histogram_rows(result.manifest["histograms"])), indent=2
    )
    yield Line()
    yield TextTable(FIGURE_COLUMNS, list(figure_rows(result.manifest["figures"])), indent=2)
    if result.selection.changes:
        yield Line()
        yield Line(f"Since {label(str(result.run.since_run_id))}:", indent=2)
        rows = [
            (CHANGES[row["change"]], f"{row['task_count']:,}", f"{row['chosen_task_count']:,}")
            for row in result.selection.changes
        ]
        columns = (
            TextColumn(""),
            TextColumn("tasks", align="right"),
            TextColumn("chosen", align="right"),
        )
        yield TextTable(columns, rows, indent=2)


def _reason_rows(selection: Selection) -> Iterator[tuple[str, str, str]]:
    order = list(FATES)
    for row in sorted(selection.reasons, key=lambda row: order.index(row["fate"])):
        yield FATES[row["fate"]], f"{row['task_count']:,}", REASONS[row["reason"]]


def _histogram_rows(histograms: dict[str, list[int]]) -> Iterator[tuple[str, str, str, str, str]]:
    most = max([*histograms["before"], *histograms["after"], 1])
    for tenth, counts in enumerate(zip(histograms["before"], histograms["after"], strict=True)):
        before, after = counts
        name = f"{tenth / 10:.1f} … {(tenth + 1) / 10:.1f}"
        yield name, f"{before:,}", _bar(before, most), f"{after:,}", _bar(after, most)


def _bar(count: int, most: int) -> str:
    return "█" * (max(1, round(BAR * count / most)) if count else 0)


def curate_warnings(result: CurateResult, recipe: Recipe) -> Iterator[str]:
    """Yield what a person should know before training on the file."""
    yield from selection_warnings(
        recipe,
        result.manifest["counts"],
        result.selection.shaped_task_count,
        result.run.pass_threshold,
    )


def output_notes(output: dict[str, Any]) -> Iterator[str]:
    """Yield what the format left out, or chose by itself."""
    for reason, count in output.get("omitted", {}).items():
        yield f"{counted_noun(count, 'task')} left out of the output: {reason}"
    if output.get("answer_field"):
        yield f"the right answers are those of the field {output['answer_field']}"


def plan_blocks(result: PlanResult) -> Iterator[Block]:
    """Lay out a plan, and the command that runs it."""
    plan = relative_path(result.plan)
    yield Fact("Plan", f"{plan}  (for {label(result.run.run_id)})")
    yield Line()
    yield Fact("undecided", counted_noun(result.undecided_count, "task"), indent=2)
    yield Fact(
        "planned",
        f"{counted_noun(result.rollout_count, 'more rollout')} of"
        f" {counted_noun(len(result.tasks), 'task')}"
        + (f", about {result.token_count:,.0f} output tokens" if result.token_count else ""),
        indent=2,
    )
    yield Fact(
        "expected", f"about {result.expected_decisions:.1f} of them will be decided", indent=2
    )
    if result.tasks:
        yield Line()
        yield Line("Run the plan, then plan again for what is still undecided:", indent=2)
        yield Line(
            Styled(
                f"spotter collect --plan {plan} -o {relative_path(result.run.rollouts)} --resume",
                "command",
            ),
            indent=4,
        )
        yield Line(
            Styled(f"spotter profile {relative_path(result.run.rollouts)}", "command"), indent=4
        )
