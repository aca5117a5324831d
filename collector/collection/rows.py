"""Read the rows of an artifact one at a time, and report every line that is not a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from collector.collection.problems import LineProblems
from collector.errors import FileError
from collector.jsonl import parse_object
from collector.keys import Key, row_key
from collector.open_files import require_regular_file

Row = dict[str, Any]
Listener = Callable[[str], None]
LISTENER_LINES = 1000


def numbered_lines(path: Path, listener: Listener | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, unchanged, with their numbers."""
    require_regular_file(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if listener and number % LISTENER_LINES == 0:
                    listener(f"reading {path.name}: {number:,} lines")
                yield number, line
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def keyed_rows(
    path: Path, *, next_step: str, listener: Listener | None = None
) -> Iterator[tuple[int, Key, Row, bytes]]:
    """Yield number, key, row and text of each line; at the end, raise LinesError for bad lines."""
    problems = LineProblems(path, next_step=next_step)
    for number, line in numbered_lines(path, listener):
        text = line.strip()
        if not text:
            continue
        try:
            row = parse_object(text)
            key = row_key(row)
        except ValueError as error:
            problems.add(number, str(error))
            continue
        yield number, key, row, text
    problems.raise_any()
