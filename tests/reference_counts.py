"""A second implementation of the counts of measured, masked and missing rollouts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median, stdev

from tests.reference import Figures, Row, is_measured, mean, number


def agent_reliability(inputs: Sequence[Row], rows: Sequence[Row]) -> Figures:
    """Return the row of one agent without failed attempts, from its inputs and rollouts."""
    measured = [row for row in rows if is_measured(row)]
    known = [reward for row in measured if not math.isnan(reward := number(row.get("reward")))]
    expected, unknown = len(inputs), len(inputs) - len(known)
    low, high = min([0.0, *known]), max([1.0, *known])
    return {
        "expected_task_count": len({row["_ng_task_index"] for row in inputs}),
        "expected_rollout_count": expected,
        "completed_rollout_count": len(rows),
        "missing_rollout_count": expected - len(rows),
        "unattempted_rollout_count": expected - len(rows),
        "measured_rollout_count": len(measured),
        "masked_rollout_count": len(rows) - len(measured),
        "unscored_rollout_count": len(measured) - len(known),
        "completion_pct": 100 * len(rows) / expected,
        "reward_mean": mean(known),
        "reward_mean_failures_as_zero": sum(known) / expected,
        "assumed_reward_min": low,
        "assumed_reward_max": high,
        "reward_mean_lowest": (sum(known) + unknown * low) / expected,
        "reward_mean_highest": (sum(known) + unknown * high) / expected,
    }


def task_profile(inputs: Sequence[Row], rows: Sequence[Row]) -> Figures:
    """Return the row of one task and agent with at least one rollout."""
    measured = [row for row in rows if is_measured(row)]
    known = [reward for row in measured if not math.isnan(reward := number(row.get("reward")))]
    expected = len(inputs) - (len(rows) - len(measured))
    columns: Figures = {
        "task_name": inputs[0].get("_ng_source_task"),
        "measured_rollout_count": len(measured),
        "unmasked_rollout_count": expected,
        "missing_rollout_count": len(inputs) - len(rows),
        "masked_rollout_count": len(rows) - len(measured),
        "completion_pct": 100 * len(measured) / expected if expected else 100.0,
        "reward_mean": mean(known),
        "reward_max": max(known, default=None),
        "reward_min": min(known, default=None),
        "reward_median": median(known) if known else None,
    }
    return columns | {"reward_std": spread(known, of_one=0.0 if len(measured) == 1 else None)}


def spread(values: Sequence[float], *, of_one: float | None) -> float | None:
    """Return the sample standard deviation; `of_one` is the result for one value."""
    return stdev(values) if len(values) > 1 else of_one if values else None


def mask_kinds(rows: Sequence[Row]) -> dict[str, Figures]:
    """Return the rows of one agent by the failure kind of its masked rollouts."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not is_measured(row):
            kinds[row.get("failure_kind") or "(unknown)"].append(row)
    return {
        kind: {
            "rollout_count": len(own),
            "task_count": len({row["_ng_task_index"] for row in own}),
            "example_reason": min(row["failure_reason"] for row in own),
        }
        for kind, own in kinds.items()
    }
