"""Texts that a spreadsheet would take for a formula.

A CSV file has no types: what begins with one of these characters is run when the file is opened.
An apostrophe before it makes it a text. Texts that begin with apostrophes and such a character get
one more, so that taking one away always gives the text back.
"""

from __future__ import annotations

import re

# the last four are what Japanese keyboards type
PATTERN = r"^[\x00-\x20']*[=+\-@＝＋－＠]"
FORMULA = re.compile(PATTERN)
GUARD = "'"


def guarded(text: str) -> str:
    """Return a text that no spreadsheet runs."""
    return GUARD + text if FORMULA.match(text) else text


def guarded_sql(expression: str) -> str:
    """Return the same for SQL."""
    pattern = PATTERN.replace("'", "''")
    return (
        f"case when regexp_matches({expression}, '{pattern}')"
        f" then '{GUARD * 2}' || {expression} else {expression} end"
    )
