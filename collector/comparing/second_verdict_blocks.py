"""Lay out two verdicts on the same rollouts for people."""

from __future__ import annotations

from collections.abc import Iterator

from collector.comparing.second_verdicts import SecondVerdicts
from collector.comparing.wording import figure
from collector.terminal.blocks import Block, Line, Styled, TextColumn, TextTable
from collector.warehouse.sql import Row

SHOWN_ROLLOUTS = 10
COUNT_COLUMNS = (
    TextColumn(),
    TextColumn("pass now", align="right", style="value"),
    TextColumn("fail now", align="right", style="value"),
)
CHANGE_COLUMNS = (
    TextColumn("rollout"),
    TextColumn("change"),
    TextColumn("reward before", align="right"),
    TextColumn("reward now", align="right"),
)
TESTS = {
    "clustered_mcnemar": "McNemar's test with tasks as clusters (Obuchowski)",
    "sign": "an exact sign test over the tasks that changed",
}


def second_verdict_blocks(second: SecondVerdicts) -> Iterator[Block]:
    """Lay out how the verdicts agree, and the rollouts to look at first."""
    row = second.row
    cells = [
        ("passed before", f"{row['both_pass_count']:,}", f"{row['pass_to_fail_count']:,}"),
        ("failed before", f"{row['fail_to_pass_count']:,}", f"{row['both_fail_count']:,}"),
    ]
    yield TextTable(COUNT_COLUMNS, cells, indent=2)
    yield Line(Styled(f"p by {TESTS[row['test']]}", "quiet"), indent=2)
    yield Line()
    if not second.changes:
        return
    yield Line(Styled("Look at first: the largest changes of the reward", "heading"))
    shown = second.changes[:SHOWN_ROLLOUTS]
    yield TextTable(CHANGE_COLUMNS, [_change_cells(one) for one in shown], indent=2)
    if len(second.changes) > len(shown):
        yield Line("… and more in verdict_changes", indent=2)
    yield Line()


def _change_cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row['task_index']}:{row['rollout_index']}",
        row["change"],
        figure(row["baseline_reward"]),
        figure(row["reward"]),
    )
