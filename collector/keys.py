"""Sets of (task, rollout) keys that stay small for millions of rollouts."""

from __future__ import annotations

from typing import Any

Key = tuple[int, int]
Row = dict[str, Any]
TASK = "_ng_task_index"
ROLLOUT = "_ng_rollout_index"
MAX_INDEX = (1 << 63) - 1
MAX_ROLLOUT = 1 << 20
EXACT_FLOAT = 1 << 53
"""Below this, a float holds every whole number exactly."""
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


def whole_number(value: object) -> int | None:
    """Return a number if it is whole, also if it is written as a fraction, like 1.0."""
    if isinstance(value, float) and abs(value) < EXACT_FLOAT and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INDEX:
        return value
    return None


def index_of(row: Row, name: str) -> int | None:
    """Return an index of a row, or None if it is missing or invalid."""
    value = whole_number(row.get(name))
    return None if value is None or value < 0 else value


def _index(row: Row, name: str) -> int:
    value = index_of(row, name)
    if value is None:
        raise ValueError(f"no {name}" if name not in row else f"{name} is not an index")
    return value
