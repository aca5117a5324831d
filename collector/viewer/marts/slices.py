"""The slices of a run: the fields that its tasks are sliced by, and the order of their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

HAS_SLICES = "select table_name from duckdb_tables() where table_name = 'task_slices'"
SLICES = """
    select slice_by_index, slice_by, slice_value, count(distinct task_index) as task_count
    from task_slices
    where run_id = $run
    group by slice_by_index, slice_by, slice_value
    order by slice_by_index, slice_by
"""
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


@dataclass(frozen=True)
class SliceField:
    """A field that a run is sliced by; its index is its place among the fields of the run."""

    index: int
    name: str
    values: list[str]

    @property
    def column(self) -> str:
        """Return the name of its column in the table of tasks."""
        return f"slice_{self.index}"


def read_slice_fields(reader: Reader, run_id: str) -> list[SliceField]:
    """Return the fields that a run is sliced by, with their values in order."""
    if not reader.rows(Query(HAS_SLICES)):  # the warehouse is of an earlier version
        return []
    fields: dict[tuple[int, str], list[Row]] = {}
    for row in reader.rows(Query(SLICES, {"run": run_id})):
        fields.setdefault((row["slice_by_index"], row["slice_by"]), []).append(row)
    return [
        SliceField(index, name, [row["slice_value"] for row in sort_slices(rows)])
        for (index, name), rows in fields.items()
    ]


def sort_slices(rows: Sequence[Row]) -> list[Row]:
    """Return the slices by a field in order: easy, medium, hard; or by number; or largest first.

    Tasks without a value come last.
    """
    steps = _steps([row["slice_value"] for row in rows])

    def place(row: Row) -> tuple[Any, ...]:
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
