"""The order in which the slices by a field are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

Slice = TypeVar("Slice", bound=Mapping[str, Any])
SCALES = (
    ("trivial", "very easy", "easy", "medium", "hard", "very hard", "expert"),
    ("very low", "low", "medium", "high", "very high"),
    ("tiny", "small", "medium", "large", "huge"),
    ("short", "medium", "long"),
    ("beginner", "intermediate", "advanced", "expert"),
    ("no", "yes"),
    ("false", "true"),
)
SAME_STEP = {"normal": "medium", "moderate": "medium", "middle": "medium", "difficult": "hard"}
NUMBERED = re.compile(r"(\D*)(\d+(?:\.\d+)?)")
NONE = "(none)"


def sort_slices(rows: Sequence[Slice]) -> list[Slice]:
    """Return slices field by field, in order: easy, medium, hard; or by number; or largest first.

    The fields keep their order. Tasks without a value come last.
    """
    fields = dict.fromkeys(row["slice_by"] for row in rows)
    return [
        row
        for field in fields
        for row in _sort_values([row for row in rows if row["slice_by"] == field])
    ]


def _sort_values(rows: Sequence[Slice]) -> list[Slice]:
    steps = _steps([row["slice_value"] for row in rows])

    def place(row: Slice) -> tuple[Any, ...]:
        value = row["slice_value"]
        size = 0 if steps else -row["task_count"]
        return value == NONE, steps.get(value, 0), size, value

    return sorted(rows, key=place)


def _steps(values: Sequence[str]) -> dict[str, float]:
    """Return the place of each value on the scale that has all of them; empty without a scale."""
    known = [value for value in values if value != NONE]
    words = {value: re.sub(r"[\s_-]+", " ", value.strip().lower()) for value in known}
    words = {value: SAME_STEP.get(word, word) for value, word in words.items()}
    for scale in SCALES:
        if set(words.values()) <= set(scale):
            return {value: scale.index(word) for value, word in words.items()}
    matches = {value: NUMBERED.fullmatch(value.strip()) for value in known}
    numbers = {value: float(match[2]) for value, match in matches.items() if match}
    prefixes = {match[1] for match in matches.values() if match}
    is_numbered = len(numbers) == len(known) and len(prefixes) == 1
    return numbers if is_numbered else {}
