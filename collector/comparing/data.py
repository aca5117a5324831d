"""Return comparisons as plain data for scripts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime

from collector.comparing.leaderboard import leaderboards
from collector.comparing.request import ComparisonResult
from collector.comparing.results import Comparison, Side
from collector.comparing.wording import (
    explanations,
    interval_of,
    p_value_of,
    std_error_of,
    verdict_sentence,
)
from collector.warehouse.sql import Row

KEYS = ("run_id", "baseline_run_id", "agent_name", "baseline_agent_name")


def as_data(result: ComparisonResult, order_label: str | None = None) -> Row:
    """Return the figures of the verdict first, then everything else.

    The verdict is that of the first pair: the second run against the first.
    """
    data = comparison_data(result.comparisons[0])
    data |= {
        "warehouse": str(result.warehouse),
        "runs": result.run_ids,
        "comparisons": [comparison_data(one) for one in result.comparisons[1:]],
    }
    if len(result.run_ids) > 2:
        data["leaderboards"] = [
            [
                {
                    "run_id": one.run_id,
                    "agent_name": one.agent_name,
                    "letters": one.letters,
                    **{
                        name: one.score[name] if one.score else None
                        for name in ("value", "std_error", "low", "high", "task_count")
                    },
                }
                for one in standings
            ]
            for standings in leaderboards(result.comparisons)
        ]
    if order_label:
        data["trajectories"] = {
            "over": order_label,
            "counts": result.trajectories.counts,
            "tasks": result.trajectories.tasks,
        }
    return data


def comparison_data(comparison: Comparison) -> Row:
    """Return one comparison, with the figures that its verdict rests on at the top."""
    row, second = comparison.primary, comparison.second_verdicts
    low, high = interval_of(row)
    return {
        "verdict": row["verdict"],
        "score": comparison.score,
        "difference": row["difference"],
        "std_error": std_error_of(row),
        "low": low,
        "high": high,
        "p_value": p_value_of(row),
        "task_count": row["task_count"],
        "sentence": verdict_sentence(comparison),
        "explanations": explanations(comparison),
        "is_same_run": comparison.is_same_run,
        "verdict_comparison": _plain_row(second.row) if second else None,
        "verdict_changes": [_plain_row(one) for one in second.changes] if second else [],
        "baseline": _side_data(comparison.baseline),
        "candidate": _side_data(comparison.candidate),
        "setting_differences": [asdict(one) for one in comparison.setting_differences],
        "runs_without_record": comparison.unrecorded,
        "primary": _plain_row(row),
        "scores": [_plain_row(one) for one in comparison.overall()],
        "slices": [_plain_row(one) for one in comparison.rows if one["slice_by"] != "all"],
        "efforts": [_plain_row(one) for one in comparison.efforts],
        "task_changes": comparison.changes,
        "tasks": [_plain_row(one) for one in comparison.tasks],
    }


def _side_data(side: Side) -> Row:
    return {
        "run_id": side.run_id,
        "agent_name": side.agent_name,
        "rollouts": side.run["rollouts_path"],
    }


def _plain_row(row: Row) -> Row:
    return {
        name: value.isoformat() if isinstance(value, (datetime, date)) else value
        for name, value in row.items()
        if name not in KEYS
    }
