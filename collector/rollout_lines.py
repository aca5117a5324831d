"""Reads the lines of a rollouts file for an index, and marks how far the index goes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from collector.errors import FileError
from collector.jsonl import Row, read_object
from collector.keys import ROLLOUT, TASK, Key, index_of
from collector.remote_paths import is_remote

INDEX_FOLDER = ".spotter-index"
HEAD_BYTES = 4096
STEP_BYTES = 4 << 20
BOM = b"\xef\xbb\xbf"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ByteRange:
    """The position of a line in its file, after a byte order mark if there is one."""

    offset: int
    length: int


@dataclass(frozen=True)
class IndexedLine:
    """A line of a rollouts file with both of its indices."""

    key: Key
    row: Row
    position: ByteRange
    is_complete: bool
    """Whether the line had its end when the scan began; else the next scan reads it again."""


@dataclass(frozen=True)
class IndexMark:
    """The state of the rollouts file when it was indexed, to detect an outdated index."""

    format: int
    path: str
    size: int
    mtime_ns: int
    read_to: int
    """The end of the last complete line: the index can be extended from here."""
    head: str
    last_place: int
    last_length: int
    last_hash: str
    skipped: int
    """The number of lines without a rollout and its indices."""


MARK_TYPES = [int, str, int, int, int, str, int, int, str, int]


def checked_mark(values: list[Any], mark_format: int, rollouts: Path) -> IndexMark | None:
    """Return a mark from its stored values, or None if it is damaged or of another file."""
    if [type(value) for value in values] != MARK_TYPES:
        return None
    mark = IndexMark(*values)
    return mark if (mark.format, mark.path) == (mark_format, _shown_path(rollouts)) else None


@dataclass
class LineScan:
    """Reads the lines of a file, up to the size that the file had at the start."""

    file: BinaryIO
    progress: Progress
    read_to: int = 0
    last: ByteRange = field(default_factory=lambda: ByteRange(0, 0))
    skipped: int = 0

    def __post_init__(self) -> None:
        """Note the size and time of the file: the next scan reads what is written from now on."""
        found = os.fstat(self.file.fileno())
        self.size, self._mtime_ns = found.st_size, found.st_mtime_ns

    def continue_from(self, mark: IndexMark | None) -> bool:
        """Skip the lines that an index has already, and return True, if the file only grew."""
        if not mark or not _has_only_grown(mark, self.file, self.size):
            return False
        self.read_to, self.skipped = mark.read_to, mark.skipped
        self.last = ByteRange(mark.last_place, mark.last_length)
        return True

    def lines(self) -> Iterator[IndexedLine]:
        """Give each line from `read_to` on that has both indices."""
        self.file.seek(self.read_to)
        at = reported = self.read_to
        while at < self.size and (line := self.file.readline()):
            if at == 0 and line.startswith(BOM):
                at, line = len(BOM), line[len(BOM) :]
            row = _parse_line(line)
            key = indices_of(row)
            is_complete = line.endswith(b"\n") and at + len(line) <= self.size
            if key:
                yield IndexedLine(key, row, ByteRange(at, len(line)), is_complete)
            if is_complete:
                self.last, self.read_to = ByteRange(at, len(line)), at + len(line)
                self.skipped += key is None and bool(line.strip())
            at += len(line)
            if at - reported >= STEP_BYTES:
                self.progress(min(at, self.size), self.size)
                reported = at
        self.progress(self.size, self.size)

    def mark(self, mark_format: int, rollouts: Path) -> IndexMark:
        """Return the mark of an index that has all lines up to here."""
        return IndexMark(
            mark_format, _shown_path(rollouts), self.size, self._mtime_ns, self.read_to,
            _hash(self.file, ByteRange(0, min(HEAD_BYTES, self.read_to))),
            self.last.offset, self.last.length, _hash(self.file, self.last), self.skipped,
        )  # fmt: skip


def pending_bytes(mark: IndexMark | None, rollouts: Path) -> int:
    """Return how many bytes must be read to bring an index up to date."""
    found = stat_rollouts(rollouts)
    if mark and (mark.size, mark.mtime_ns) == (found.st_size, found.st_mtime_ns):
        return 0
    with open_rollouts(rollouts) as file:
        start = mark.read_to if mark and _has_only_grown(mark, file, found.st_size) else 0
    return max(1, found.st_size - start)


def _has_only_grown(mark: IndexMark, file: BinaryIO, size: int) -> bool:
    """Tell whether a file was only appended to, by its beginning and its last indexed line."""
    return (
        0 < mark.read_to <= mark.size < size
        and _hash(file, ByteRange(0, min(HEAD_BYTES, mark.read_to))) == mark.head
        and _hash(file, ByteRange(mark.last_place, mark.last_length)) == mark.last_hash
    )


def index_path(rollouts: Path, folder: Path, suffix: str) -> Path:
    """Return the path of an index of a rollouts file."""
    name = hashlib.md5(os.fsencode(rollouts.absolute())).hexdigest()
    return folder / f"{name}{suffix}"


def indices_of(row: Row) -> Key | None:
    """Return the task and rollout index of a row, or None if it lacks one of them."""
    task, rollout = index_of(row, TASK), index_of(row, ROLLOUT)
    return None if task is None or rollout is None else (task, rollout)


def stat_rollouts(path: Path) -> os.stat_result:
    """Return the status of a rollouts file; raise FileError if it cannot be read."""
    if is_remote(path):
        raise FileError(
            f"{path} is in an object store, and transcripts are read from local files only\n"
            "  what to do: copy the run's files to a disk, and profile them there"
        )
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise FileError(_unreadable_message(path, error)) from error
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would block
        raise FileError(_unreadable_message(path, ValueError("it is not a file")))
    return status


def open_rollouts(path: Path) -> BinaryIO:
    """Open a rollouts file; raise FileError if that fails."""
    try:
        return path.open("rb", buffering=1 << 20)
    except (OSError, ValueError) as error:
        raise FileError(_unreadable_message(path, error)) from error


def _parse_line(line: bytes) -> Row:
    """Return the object of a line; an empty one if the line does not have one."""
    # exact numbers beyond 64 bits cost `read_object` a third of its time, and are never indices
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            return read_object(line)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _shown_path(rollouts: Path) -> str:
    return str(rollouts.absolute()).encode("utf-8", "backslashreplace").decode()


def _hash(file: BinaryIO, position: ByteRange) -> str:
    file.seek(position.offset)
    return hashlib.md5(file.read(position.length)).hexdigest()


def _unreadable_message(path: Path, error: OSError | ValueError) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"cannot read the rollouts file {path}: {reason}\n"
        "  what to do: put it back, or profile it again where it is now"
    )
