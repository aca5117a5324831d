"""Read the rows of a JSON lines file one at a time, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from collector.errors import FileError, LinesError
from collector.importing.attempts import Json
from collector.importing.reading import Reading
from collector.jsonl import foreign_format, read_object

MAX_LINE_BYTES = 64 << 20


class TornLine:
    """Remembers that the last line of a file was cut short."""

    def __init__(self) -> None:
        """Start without one."""
        self.places: list[str] = []

    def losses(self) -> list[str]:
        """Say which last lines were left out."""
        return [f"{place} is cut short, and was left out" for place in self.places]


def read_rows(path: Path, reading: Reading, torn: TornLine) -> Iterator[tuple[int, Json]]:
    """Yield each row with the number of its line.

    An unfinished last line is noted in `torn`. Raise LinesError for any other line that is not a
    JSON object.
    """
    for number, line, is_whole in _lines(path):
        reading.meter.add(len(line))
        text = line.strip()
        if not text:
            continue
        try:
            row = read_object(text)
        except ValueError as error:
            if not is_whole and not (number == 1 and foreign_format(path)):
                torn.places.append(f"the last line of {path.name} (line {number})")
                return
            raise _line_error(path, number, str(error)) from None
        yield number, row


def _lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number and text of each line, and whether it ends with a newline."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES):
                number += 1
                is_whole = line.endswith(b"\n")
                if not is_whole and len(line) >= MAX_LINE_BYTES:
                    raise _line_error(path, number, f"longer than {MAX_LINE_BYTES >> 20} MiB")
                yield number, line, is_whole
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def _line_error(path: Path, number: int, reason: str) -> LinesError:
    looks_like = foreign_format(path) if number == 1 else None
    hint = f"the file looks like {looks_like}" if looks_like else "what to do: correct the line"
    return LinesError(
        f"cannot read line {number} of {path}: {reason}\n  {hint}", count=1, numbers=[number]
    )
