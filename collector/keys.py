"""Sets of (task, rollout) keys that stay small for millions of rollouts."""

from __future__ import annotations

from typing import Any

Key = tuple[int, int]
Row = dict[str, Any]
TASK = "_ng_task_index"
ROLLOUT = "_ng_rollout_index"
MAX_ROLLOUT = 1 << 20
# names of fields that a collector adds begin like this
COLLECTOR_PREFIXES = ("_ng_", "_spotter_")


class Keys:
    """A set of keys, stored as one integer per task whose bits are the rollouts."""

    def __init__(self) -> None:
        """Create an empty set."""
        self._rollouts: dict[int, int] = {}
        self.count = 0

    def add(self, key: Key) -> bool:
        """Add a key, and return whether it is new."""
        task, rollout = key
        known = self._rollouts.get(task, 0)
        if known >> rollout & 1:
            return False
        self._rollouts[task] = known | 1 << rollout
        self.count += 1
        return True

    @property
    def task_count(self) -> int:
        """Return how many tasks have a key."""
        return len(self._rollouts)

    def count_shared(self, other: Keys) -> int:
        """Return how many keys both sets have."""
        return sum(
            (rollouts & other._rollouts.get(task, 0)).bit_count()
            for task, rollouts in self._rollouts.items()
        )

    def __contains__(self, key: Key) -> bool:
        """Return whether the set has a key."""
        task, rollout = key
        return bool(self._rollouts.get(task, 0) >> rollout & 1)


def row_key(row: Row) -> Key:
    """Return the key of a row; raise ValueError if an index is missing or invalid."""
    rollout = _index(row, ROLLOUT)
    if rollout >= MAX_ROLLOUT:
        raise ValueError(f"{ROLLOUT} must be below {MAX_ROLLOUT}")
    return _index(row, TASK), rollout


def _index(row: Row, name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise ValueError(f"no {name}" if name not in row else f"{name} is not an index")
    return value
