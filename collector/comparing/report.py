"""Lay out the result of `spotter compare` for people."""

from __future__ import annotations

from collector.comparing.blocks import comparison_blocks
from collector.comparing.gate import GateReport
from collector.comparing.gate_blocks import gate_blocks
from collector.comparing.leaderboard_blocks import leaderboard_blocks, trajectory_blocks
from collector.comparing.request import ComparisonResult
from collector.terminal import relative_path
from collector.terminal.blocks import Block, Fact


def as_blocks(
    result: ComparisonResult, gate: GateReport | None, order_label: str | None
) -> list[Block]:
    """Describe two runs in full, or several by their standings and pairs."""
    blocks: list[Block] = []
    if len(result.run_ids) > 2:
        blocks += leaderboard_blocks(result)
    else:
        blocks += [block for one in result.comparisons for block in comparison_blocks(one)]
    if order_label:
        blocks += trajectory_blocks(result, order_label)
    if gate:
        blocks += gate_blocks(gate)
    blocks.append(Fact("Warehouse", relative_path(result.warehouse)))
    return blocks
