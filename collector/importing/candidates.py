"""Files that may be logs, with what their first bytes say."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from collector.errors import FileError
from collector.importing.attempts import Json
from collector.jsonl import read_object

HEAD_BYTES = 1 << 16
# parsed JSON takes several times the memory of its text
FIRST_LINE_BYTES = 32 << 20
WHOLE_BYTES = 16 << 20


class Claim(enum.Enum):
    """What a file is to the format that claims it."""

    LOG = "log"
    PART = "part"
    """A file beside logs, which is read with them."""


@dataclass(frozen=True)
class Candidate:
    """A file that may be a log."""

    path: Path

    @cached_property
    def head(self) -> bytes:
        """Return the first 64 KiB."""
        return self._read(HEAD_BYTES)

    @cached_property
    def first_object(self) -> Json | None:
        """Return the JSON object on the first line that is not empty; None if there is none."""
        lines = self._first_lines().split(b"\n")
        first = next((line for line in lines if line.strip()), b"")
        return _parse(first)

    @cached_property
    def whole_object(self) -> Json | None:
        """Return the JSON object that the whole file is; None if it is not one or above 16 MiB."""
        if not self._begins_object or self.path.stat().st_size > WHOLE_BYTES:
            return None
        return _parse(self._read(WHOLE_BYTES))

    @property
    def _begins_object(self) -> bool:
        return self.head.lstrip()[:1] == b"{"

    def _first_lines(self) -> bytes:
        """Return the head, or more if the first line is longer than that."""
        if not self._begins_object or b"\n" in self.head.lstrip():
            return self.head
        if len(self.head) < HEAD_BYTES:
            return self.head
        try:
            with self.path.open("rb") as file:
                return file.readline(FIRST_LINE_BYTES)
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from error

    def _read(self, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from error


def _parse(text: bytes) -> Json | None:
    try:
        return read_object(text.strip())
    except ValueError:
        return None
