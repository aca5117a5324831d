"""Draw the result of a query as a box, the way DuckDB's own shell does."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from collector.terminal import label

CELL_CHARACTERS = 100
NARROWEST = 12
"""How far a column of texts is cut before columns are left out."""
NUMBERS = (int, float, Decimal)
CUT = "…"


@dataclass(frozen=True)
class Preview:
    """The first and the last rows of a result, and how many there are."""

    columns: Sequence[str]
    types: Sequence[str]
    head: Sequence[Sequence[Any]]
    tail: Sequence[Sequence[Any]]
    count: int

    @property
    def hidden_count(self) -> int:
        """Return how many rows between the first and the last are left out."""
        return self.count - len(self.head) - len(self.tail)


@dataclass(frozen=True)
class _Column:
    cells: Sequence[str]
    """The title and the type, then the rows."""
    is_number: bool

    @property
    def width(self) -> int:
        return max(map(text_width, self.cells))


def draw_box(preview: Preview, *, columns: int | None) -> str:
    """Return a result as a box of at most `columns` columns, if they are limited."""
    drawn = [_column(preview, number) for number in range(len(preview.columns))]
    widths, shown = _fit([column.width for column in drawn], drawn, columns)
    parts = [drawn[number] for number in shown]
    is_shortened = len(shown) < len(drawn)
    if is_shortened:  # the columns left out are in the middle
        dots = _Column([CUT, "", *[CUT] * _row_count(preview)], is_number=False)
        parts.insert((len(shown) + 1) // 2, dots)
        widths.insert((len(shown) + 1) // 2, 1)
    lines = list(_lines(preview, parts, widths))
    return "\n".join([*lines, _footer(preview, len(shown))]) + "\n"


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _row_count(preview: Preview) -> int:
    return len(preview.head) + len(preview.tail)


def _column(preview: Preview, number: int) -> _Column:
    values = [row[number] for row in itertools.chain(preview.head, preview.tail)]
    known = [value for value in values if value is not None]
    is_number = all(isinstance(one, NUMBERS) and not isinstance(one, bool) for one in known)
    titles = [label(preview.columns[number], CELL_CHARACTERS), preview.types[number]]
    return _Column([*titles, *map(cell_text, values)], is_number and bool(known))


def cell_text(value: Any) -> str:
    """Return a value for reading: floats with six digits, texts in one line."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return number_text(value)
    return label(value, CELL_CHARACTERS)


def number_text(value: float) -> str:
    """Return a number with six significant digits, without an exponent where that is short."""
    if not math.isfinite(value):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:.1f}"
    text = f"{value:.6g}"
    return f"{value:.1f}" if "e" in text and 1 <= abs(value) < 1e15 else text


def _fit(
    natural: list[int], drawn: Sequence[_Column], columns: int | None
) -> tuple[list[int], list[int]]:
    """Return the widths of the columns that are shown, and their numbers."""
    shown = list(range(len(natural)))
    if columns is None:
        return natural, shown
    while True:
        spare = 4 if len(shown) < len(natural) else 0
        available = columns - 1 - spare - 3 * len(shown)
        widths = _shrink(
            [natural[number] for number in shown], [drawn[n] for n in shown], available
        )
        if sum(widths) <= available or len(shown) == 1:
            return widths, shown
        shown.pop((len(shown) + 1) // 2 if len(shown) > 2 else -1)


def _shrink(widths: list[int], drawn: Sequence[_Column], available: int) -> list[int]:
    """Cut the widest columns of texts until all fit, as far as that goes."""
    left = list(widths)
    while sum(left) > available:
        texts = [
            number
            for number, column in enumerate(drawn)
            if not column.is_number and left[number] > NARROWEST
        ]
        if not texts:
            break
        left[max(texts, key=lambda number: left[number])] -= 1
    return left


def _lines(preview: Preview, parts: Sequence[_Column], widths: Sequence[int]) -> Iterator[str]:
    yield _rule("┌┬┐", widths)
    for line in range(2):
        yield _row(
            [_center(one.cells[line], width) for one, width in zip(parts, widths, strict=True)]
        )
    yield _rule("├┼┤", widths)
    for line in range(_row_count(preview)):
        if line == len(preview.head) and preview.hidden_count:
            for _ in range(3):
                yield _row([_center("·", width) for width in widths])
        yield _row([_align(one, 2 + line, width) for one, width in zip(parts, widths, strict=True)])
    yield _rule("└┴┘", widths)


def _rule(corners: str, widths: Sequence[int]) -> str:
    return corners[0] + corners[1].join("─" * (width + 2) for width in widths) + corners[2]


def _row(cells: Sequence[str]) -> str:
    return "│ " + " │ ".join(cells) + " │"


def _center(text: str, width: int) -> str:
    cut = _cut(text, width)
    spare = width - text_width(cut)
    return " " * (spare // 2) + cut + " " * (spare - spare // 2)


def _align(column: _Column, line: int, width: int) -> str:
    cut = _cut(column.cells[line], width)
    spaces = " " * (width - text_width(cut))
    return spaces + cut if column.is_number else cut + spaces


def _cut(text: str, width: int) -> str:
    if text_width(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _character_width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + CUT


def _footer(preview: Preview, shown_columns: int) -> str:
    rows = f"{preview.count:,} {'row' if preview.count == 1 else 'rows'}"
    if preview.hidden_count:
        rows += f" ({_row_count(preview)} shown; --all shows all)"
    if shown_columns < len(preview.columns):
        rows += f", {len(preview.columns)} columns ({shown_columns} shown; --csv has all)"
    return rows
