"""Draw blocks, messages and progress with rich. Only this module imports rich."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from collector.terminal.blocks import (
    Block,
    Fact,
    Line,
    Style,
    Styled,
    TextColumn,
    TextTable,
    Words,
    parts_of,
    plain,
    plain_text,
)
from collector.terminal.text import printable

# the terminal's own sixteen colours, which suit its background
STYLES: dict[Style, str] = {
    "heading": "bold",
    "label": "cyan",
    "value": "bold",
    "quiet": "dim",
    "good": "green",
    "caution": "yellow",
    "bad": "bold red",
    "command": "cyan",
}
PREFIXES: dict[str, str] = {"error:": "bold red", "warning:": "bold yellow"}
PREFIX = re.compile(f"({'|'.join(PREFIXES)}) ")
HINT = re.compile(" *what to do:")
WRAPPED_WIDTH = 16
BAR_WIDTH = 30
# rich takes about 0.1 ms for each cell
DRAWN_ROWS = 500


def draw_blocks(blocks: Sequence[Block], *, columns: int) -> str:
    """Return blocks with colour and line ends, for a terminal of some columns."""
    console = _console(columns)
    with console.capture() as capture:
        for block in blocks:
            _print_block(console, block)
    return capture.get()


def draw_message(text: str, *, columns: int) -> str:
    """Return a message whose prefix and hints stand out."""
    first, *others = text.split("\n")
    prefix = PREFIX.match(first)
    console = _console(columns)
    with console.capture() as capture:
        if prefix:
            lead = Text().append(prefix[0], PREFIXES[prefix[1]])
            _print_hanging(console, lead, Text(printable(first[prefix.end() :])))
        else:
            console.print(Text(printable(first)), soft_wrap=True)
        for line in others:  # they may quote a file or a server, so no prefix is looked for
            style = STYLES["command"] if HINT.match(line) else ""
            console.print(Text(printable(line), style), soft_wrap=True)
    return capture.get()


def draw_progress(
    text: str, share: float | None, details: Sequence[Line], *, columns: int
) -> list[str]:
    """Return the lines of a progress display; each fits into the terminal."""
    # a terminal may wrap a line that fills its last column
    console = _console(max(columns - 1, 1))
    grid = Table.grid(padding=(0, 1))
    cells: list[ConsoleRenderable] = [Text(printable(text), no_wrap=True, overflow="ellipsis")]
    if share is not None:
        bar = ProgressBar(
            total=1.0,
            completed=share,
            width=min(BAR_WIDTH, columns // 3),
            style="bright_black",
            complete_style="cyan",
            finished_style="green",
        )
        cells.insert(0, bar)
    grid.add_row(*cells)
    with console.capture() as capture:
        console.print(grid)
        for line in details:
            words = _text(line.text, indent=line.indent)
            console.print(words, no_wrap=True, overflow="ellipsis")
    return capture.get().splitlines()


def _console(columns: int) -> Console:
    is_plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        force_terminal=True,
        color_system=None if is_plain else "standard",
        no_color=is_plain,
        width=columns,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def _text(words: Words, *, indent: int = 0, style: Style | None = None) -> Text:
    """Return words for rich; it never reads markup in them."""
    text = Text(" " * indent, style=STYLES[style] if style else "")
    for part in parts_of(words):
        if isinstance(part, Styled):
            text.append(printable(part.text), STYLES[part.style])
        else:
            text.append(printable(part))
    return text


def _print_block(console: Console, block: Block) -> None:
    if isinstance(block, Line):
        console.print(_text(block.text, indent=block.indent), soft_wrap=True)
    elif isinstance(block, Fact):
        _print_fact(console, block)
    elif len(block.rows) > DRAWN_ROWS:
        console.out(plain_text([block]), highlight=False)
    else:
        _print_table(console, block)


def _print_fact(console: Console, fact: Fact) -> None:
    lead = Text(" " * fact.indent)
    lead.append(fact.label.ljust(fact.width), STYLES[fact.style])
    _print_hanging(console, lead, _text(fact.text))


def _print_hanging(console: Console, lead: Text, text: Text) -> None:
    """Print a text after its lead; wrap it at spaces unless a word, such as a path, is too long."""
    available = console.width - lead.cell_len
    is_wrapped = max(map(cell_len, text.plain.split()), default=0) <= available < text.cell_len
    for line in text.wrap(console, available) if is_wrapped else [text]:
        line.rstrip()
        console.print(lead + line, soft_wrap=True)
        lead = Text(" " * lead.cell_len)


def _print_table(console: Console, table: TextTable) -> None:
    sizes = [_column_sizes(table, number) for number in range(len(table.columns))]
    # narrow gaps are better than wrapped names
    for is_wrapped, gap in ((False, 2), (False, 1), (True, 2), (True, 1)):
        available = console.width - table.indent - gap * (len(table.columns) - 1)
        widths = [size.wrapped if is_wrapped else size.least for size in sizes]
        if sum(widths) <= available:
            _widen(widths, sizes, available)
            console.print(Padding(_grid(table, widths, gap), (0, 0, 0, table.indent), expand=False))
            return
    for number, row in enumerate(table.rows, start=1):
        for block in _record(table, row, number):
            _print_block(console, block)


@dataclass(frozen=True)
class _Size:
    """The widths that a column may have."""

    natural: int
    least: int
    """Without wrapped cells; a title may wrap."""
    wrapped: int
    """With wrapped or cut cells, if the column allows that."""


def _column_sizes(table: TextTable, number: int) -> _Size:
    column = table.columns[number]
    cells = max((cell_len(plain(row[number])) for row in table.rows), default=0)
    title = max(map(cell_len, column.title.split()), default=0)
    natural = max(cells, cell_len(column.title))
    least = max(title, cells)
    if column.overflow == "none":
        return _Size(max(natural, column.width), least, least)
    return _Size(natural, least, max(title, min(cells, WRAPPED_WIDTH)))


def _widen(widths: list[int], sizes: list[_Size], available: int) -> None:
    """Give the space that is left to the narrowest columns first."""
    spare = available - sum(widths)
    while spare > 0:
        narrow = [number for number, size in enumerate(sizes) if widths[number] < size.natural]
        if not narrow:
            return
        widths[min(narrow, key=lambda number: widths[number])] += 1
        spare -= 1


def _grid(table: TextTable, widths: list[int], gap: int) -> Table:
    grid = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="")
    grid.show_header = table.has_titles
    for column, width in zip(table.columns, widths, strict=True):
        grid.add_column(
            Text(printable(column.title), STYLES["quiet"]),
            justify="left" if column.align == "left" else "right",
            vertical="top",
            width=width,
            no_wrap=column.overflow == "cut",
            overflow="ellipsis" if column.overflow == "cut" else "fold",
        )
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        grid.add_row(*(_text(cell, style=column.style) for cell, column in cells))
    return grid


def _record(table: TextTable, row: Sequence[Words], number: int) -> list[Block]:
    """Return a row of a table that is too wide: one line for each of its cells."""
    cells = list(zip(table.columns, row, strict=True))
    untitled = [plain(cell) for column, cell in cells if not column.title]
    heading = "  ".join(filter(None, untitled)) or f"row {number}"
    width = max(len(column.title) for column in table.columns) + 2
    return [
        Line(Styled(heading, "heading" if untitled else "quiet"), table.indent),
        *(
            Fact(printable(column.title), _with_style(cell, column), table.indent + 2, width)
            for column, cell in cells
            if column.title
        ),
    ]


def _with_style(cell: Words, column: TextColumn) -> Words:
    return Styled(plain(cell), column.style) if column.style and isinstance(cell, str) else cell
