"""Guard texts that a spreadsheet would take for a formula.

A CSV file has no types: a spreadsheet runs a text that begins with one of these characters when it
opens the file. An apostrophe before the text prevents this. A text that already begins with
apostrophes and such a character gets one more, so that removing one always restores the text.
"""

from __future__ import annotations

import re

# the last four are the full-width characters of Japanese keyboards
PATTERN = r"^[\x00-\x20']*[=+\-@＝＋－＠]"
FORMULA = re.compile(PATTERN)
GUARD = "'"


def guard_formula(text: str) -> str:
    """Return the text, with an apostrophe before it if it looks like a formula."""
    return GUARD + text if FORMULA.match(text) else text


def guard_formula_sql(expression: str) -> str:
    """Return SQL that guards the value of an expression as `guard_formula` does."""
    pattern = PATTERN.replace("'", "''")
    return (
        f"case when regexp_matches({expression}, '{pattern}')"
        f" then '{GUARD * 2}' || {expression} else {expression} end"
    )
