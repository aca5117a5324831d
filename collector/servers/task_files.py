"""Read and write files of tasks, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from collector.errors import FileError
from collector.jsonl import dump, parse_object

Row = dict[str, Any]


def read_tasks(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the line number and the row of every task; raise FileError for an unreadable line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = parse_object(line)
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from error
            yield number, row


def write_tasks(file: BinaryIO, rows: Iterable[Row]) -> int:
    """Write tasks to an open file, and return their number."""
    count = 0
    for row in rows:
        file.write(dump(row) + b"\n")
        count += 1
    return count
