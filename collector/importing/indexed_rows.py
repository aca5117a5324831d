"""Look up rows of a second JSON lines file by key, without holding them in memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from collector.importing.attempts import Json
from collector.jsonl import read_object


class IndexedRows:
    """The rows of a file by key: the last of each key, none if the file does not exist.

    Lines that are not JSON objects are left out: the file only adds to another one.
    """

    def __init__(self, path: Path, key: Callable[[Json], Hashable]) -> None:
        """Take the file, and how to tell a row's key."""
        self._path = path
        self._key = key
        self._places: dict[Hashable, tuple[int, int]] = {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Read the file once, to know where each row is."""
        if self._path.is_file():
            self._file = self._path.open("rb")
            offset = 0
            for line in self._file:
                row = _parse(line)
                if row is not None:
                    self._places[self._key(row)] = (offset, len(line))
                offset += len(line)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def find(self, key: Hashable) -> Json | None:
        """Return the row of a key."""
        place = self._places.get(key)
        if place is None or self._file is None:
            return None
        self._file.seek(place[0])
        return _parse(self._file.read(place[1]))


def _parse(line: bytes) -> Json | None:
    try:
        return read_object(line.strip())
    except ValueError:
        return None
