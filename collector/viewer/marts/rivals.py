"""Chooses the attempt at the same task that a rollout is best compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass

from collector.warehouse.sql import Row


@dataclass(frozen=True)
class Rival:
    """Another attempt at the task with another outcome, to read side by side."""

    rollout: int
    label: str
    is_better: bool


def find_rival(row: Row, repeats: list[tuple[str, list[Row]]], threshold: float) -> Rival | None:
    """Return the attempt that a rollout is best compared with, or None if all did alike.

    For a failing rollout that is a passing one, for a passing rollout a failing one. It is of the
    same agent if possible.
    """
    own = row["reward"] if row["reward"] is not None else -math.inf
    is_pass = own >= threshold
    others = [
        (agent != row["agent_name"], -one["reward"] if not is_pass else one["reward"], one)
        for agent, rollouts in repeats
        for one in rollouts
        if one["reward"] is not None
        and not one["is_masked"]
        and (one["reward"] < threshold if is_pass else one["reward"] > own)
    ]
    if not others:
        return None
    passing = [other for other in others if other[2]["reward"] >= threshold]
    *_, one = min(passing or others, key=lambda other: (*other[:2], other[2]["rollout"]))
    kind = "failing" if is_pass else "passing" if passing else "better"
    return Rival(one["rollout"], f"{kind} rollout {one['rollout']}", is_better=not is_pass)
