"""Texts that a spreadsheet would run: guarded, and given back as they were."""

from __future__ import annotations

import duckdb
import pytest

from collector.spreadsheets import FORMULA, guard_formula, guard_formula_sql
from tests.exports import FORMULAS, TEXTS

MORE = ("", "'", "''", "a=1", "'a", " a", "\n=1", "\x00=1", "- item", "−1", "=", "a\n=1", "1-1")


@pytest.mark.parametrize("text", [*TEXTS, *MORE])
def test_a_guarded_text_is_no_formula_and_can_be_given_back(text: str) -> None:
    found = guard_formula(text)
    assert not found.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    is_guarded = found.startswith("'") and bool(FORMULA.match(found))
    assert (found[1:] if is_guarded else found) == text


def test_only_formulas_are_guarded() -> None:
    assert all(guard_formula(text) != text for text in FORMULAS)
    assert [guard_formula(text) for text in ("plain", "'plain", "1-1", "a=1")] == [
        "plain", "'plain", "1-1", "a=1"
    ]  # fmt: skip


def test_sql_guards_the_same() -> None:
    texts = [text for text in (*TEXTS, *MORE) if "\x00" not in text]
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select text, {guard_formula_sql('text')} from unnest(?) as rows (text)", [texts]
        ).fetchall()
    assert rows == [(text, guard_formula(text)) for text in texts]
