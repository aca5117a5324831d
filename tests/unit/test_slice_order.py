"""The order of slices."""

from __future__ import annotations

import pytest

from collector.slice_order import sort_slices

ORDERS = {
    "difficulty": {"hard": 9, "easy": 5, "medium": 7},
    "levels": {"Level 1": 1, "Level 2": 9, "Level 10": 3},
    "numbers": {"2": 5, "10": 9},
    "synonyms": {"Very Easy": 1, "normal": 2, "difficult": 3},
    "sizes": {"math": 9, "code": 5, "art": 5},
    "without a value": {"easy": 1, "hard": 2, "(none)": 50},
    "levels of two kinds": {"b 2": 9, "a 1": 5},
}
EXPECTED = {
    "difficulty": ["easy", "medium", "hard"],
    "sizes": ["math", "art", "code"],
}


@pytest.mark.parametrize("name", ORDERS)
def test_slices_go_from_easy_to_hard_or_from_large_to_small(name: str) -> None:
    sizes = ORDERS[name]
    expected = EXPECTED.get(name, list(sizes))
    for names in (sorted(sizes), sorted(sizes, reverse=True)):
        rows = [
            {"slice_by": field, "slice_value": value, "task_count": sizes[value]}
            for value in names
            for field in ("b", "a")
        ]
        found = sort_slices(rows)
        assert [row["slice_value"] for row in found] == expected * 2
        assert [row["slice_by"] for row in found] == ["b"] * len(names) + ["a"] * len(names)
