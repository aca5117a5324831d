"""The parts that a command's output is made of, and their plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from collector.terminal.text import printable

GAP = "  "
Style = Literal["heading", "label", "value", "quiet", "good", "caution", "bad", "command"]


@dataclass(frozen=True)
class Styled:
    """A text that a terminal shows in a style."""

    text: str
    style: Style


# renderers replace control characters, so any text may be passed
Words = str | Styled | tuple[str | Styled, ...]


@dataclass(frozen=True)
class Line:
    """One line. A terminal wraps it without a line break, so that commands can be copied."""

    text: Words = ""
    indent: int = 0


@dataclass(frozen=True)
class Fact:
    """A label of `width` columns, and a text that a narrow terminal wraps beside it."""

    label: str
    text: Words
    indent: int = 0
    width: int = 13
    style: Style = "label"


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: at least `width` wide, or as wide as its longest cell if that is 0."""

    title: str = ""
    width: int = 0
    align: Literal["left", "right", "right on terminals"] = "left"
    style: Style | None = None
    overflow: Literal["none", "wrap", "cut"] = "none"
    """What a narrow terminal may do with the cells."""


@dataclass(frozen=True)
class TextTable:
    """Rows of aligned cells."""

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[Words]]
    indent: int = 0
    has_rule: bool = False
    """Whether plain text has a line under the titles."""

    @property
    def has_titles(self) -> bool:
        """Return whether a row of titles comes first."""
        return bool(self.rows or self.has_rule) and any(column.title for column in self.columns)


Block = Line | Fact | TextTable


def parts_of(words: Words) -> tuple[str | Styled, ...]:
    """Return the pieces that the words consist of."""
    return words if isinstance(words, tuple) else (words,)


def plain(words: Words) -> str:
    """Return the words without styles and control characters."""
    return "".join(
        printable(part.text if isinstance(part, Styled) else part) for part in parts_of(words)
    )


def plain_text(blocks: Iterable[Block]) -> str:
    """Return blocks as text without a line end: the same for every terminal, pipe and log."""
    return "\n".join(line for block in blocks for line in _plain_lines(block))


def _plain_lines(block: Block) -> Iterator[str]:
    indent = " " * block.indent
    if isinstance(block, Line):
        yield indent + plain(block.text)
    elif isinstance(block, Fact):
        yield f"{indent}{block.label.ljust(block.width)}{plain(block.text)}"
    else:
        yield from _table_lines(block)


def _table_lines(table: TextTable) -> Iterator[str]:
    titles = [printable(column.title) for column in table.columns]
    rows = [[plain(cell) for cell in row] for row in table.rows]
    lines = [titles, *rows] if table.has_titles else rows
    widths = [
        column.width or max((len(line[number]) for line in lines), default=0)
        for number, column in enumerate(table.columns)
    ]
    indent = " " * table.indent
    for number, line in enumerate(lines):
        cells = (
            cell.rjust(width) if column.align == "right" else cell.ljust(width)
            for cell, width, column in zip(line, widths, table.columns, strict=True)
        )
        yield (indent + GAP.join(cells)).rstrip()
        if number == 0 and table.has_rule:
            yield indent + GAP.join("-" * width for width in widths)
