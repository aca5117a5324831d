"""How results are drawn: numbers for reading, texts that fit."""

from __future__ import annotations

import pytest

from collector.warehouse.result_box import Preview, cell_text, draw_box, number_text, text_width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (0.1 + 0.2, "0.3"),
        (2 / 3, "0.666667"),
        (1234567.89, "1234567.9"),
        (1e300, "1e+300"),
        (1.5e-9, "1.5e-09"),
        (3e14, "300000000000000.0"),
        (float("nan"), "nan"),
        (-float("inf"), "-inf"),
    ],
)
def test_numbers_are_rounded_for_reading(value: float, text: str) -> None:
    assert number_text(value) == text


def test_values_are_told_apart_from_texts() -> None:
    assert [cell_text(value) for value in (None, True, 3, "a\nb")] == ["NULL", "True", "3", "a b"]


def test_wide_characters_take_two_columns() -> None:
    assert text_width("日本e\u0301") == 5
    box = draw_box(Preview(["a"], ["varchar"], [["日本語" * 20]], [], 1), columns=20)
    assert {text_width(line) for line in box.splitlines()[:-1]} <= {19, 20}


@pytest.mark.parametrize("columns", [1, 10, 30, 80])
def test_any_width_gives_whole_lines(columns: int) -> None:
    names = [f"column_{number}" for number in range(12)]
    preview = Preview(names, ["bigint"] * 12, [[10**number for number in range(12)]], [], 1)
    lines = draw_box(preview, columns=columns).splitlines()
    assert len({text_width(line) for line in lines[:-1]}) == 1
    assert "12 columns (" in lines[-1]


def test_a_result_without_rows_is_a_box_too() -> None:
    lines = draw_box(Preview(["a"], ["varchar"], [], [], 0), columns=None).splitlines()
    assert lines[1:3] == ["│    a    │", "│ varchar │"]
    assert lines[-1] == "0 rows"
