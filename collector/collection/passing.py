"""Tell whether a rollout passes."""

from __future__ import annotations

import sys
from typing import Any

Row = dict[str, Any]


def is_pass(row: Row, pass_threshold: float) -> bool | None:
    """Tell whether a rollout passes; None if it measures nothing."""
    reward = row.get("reward")
    if row.get("mask_sample") or not isinstance(reward, (int, float)):
        return None
    return float(reward) >= pass_threshold if abs(reward) <= sys.float_info.max else None
