"""An index of the byte offsets of rollouts in their file, built once and kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import orjson

from collector.atomic_files import Drafts, anything
from collector.errors import FileError
from collector.jsonl import read_object

FORMAT = 1
INDEX_FOLDER = ".spotter-index"
HEAD_BYTES = 4096
STEP_BYTES = 4 << 20
BOM = b"\xef\xbb\xbf"
Progress = Callable[[int, int], None]
TABLES = """
    create table offsets (
        task_index integer, rollout_index integer, place integer, length integer,
        primary key (task_index, rollout_index)
    ) without rowid;
    create table mark (
        format integer, path text, size integer, mtime_ns integer, read_to integer, head text,
        last_place integer, last_length integer, last_hash text, skipped integer
    );
"""


class DamagedIndexError(Exception):
    """The index on disk is unusable and must be built again."""


@dataclass(frozen=True)
class ByteRange:
    """The position of a line in its file, after a byte order mark if there is one."""

    offset: int
    length: int


Finder = Callable[[int, int], ByteRange | None]


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


@dataclass
class _LineScan:
    """Reads the lines of a file, up to the size that the file had at the start."""

    file: BinaryIO
    size: int
    progress: Progress
    read_to: int = 0
    last: ByteRange = field(default_factory=lambda: ByteRange(0, 0))
    skipped: int = 0

    def rows(self) -> Iterator[tuple[int, int, int, int]]:
        """Give the task, rollout, offset and length of each line from `read_to` on."""
        self.file.seek(self.read_to)
        at = reported = self.read_to
        while at < self.size and (line := self.file.readline()):
            if at == 0 and line.startswith(BOM):
                at, line = len(BOM), line[len(BOM) :]
            key = indices_of(line)
            if key:
                yield (*key, at, len(line))
            # the next scan reads a line again that is unfinished or ends after the recorded size
            if line.endswith(b"\n") and at + len(line) <= self.size:
                self.last, self.read_to = ByteRange(at, len(line)), at + len(line)
                self.skipped += key is None and bool(line.strip())
            at += len(line)
            if at - reported >= STEP_BYTES:
                self.progress(min(at, self.size), self.size)
                reported = at
        self.progress(self.size, self.size)


class Offsets:
    """The index of one rollouts file, which a new index replaces and nothing changes.

    So several processes can build it at once, and a killed process leaves the old index.
    """

    def __init__(self, rollouts: Path, folder: Path) -> None:
        """Create the index of a rollouts file; its own file is in `folder`."""
        self.rollouts = rollouts.absolute()
        name = hashlib.md5(os.fsencode(self.rollouts)).hexdigest()
        self.path = folder / f"{name}.sqlite"

    def pending_bytes(self) -> int:
        """Return how many bytes must be read to bring the index up to date."""
        found = _stat(self.rollouts)
        mark = self._mark()
        if mark and (mark.size, mark.mtime_ns) == (found.st_size, found.st_mtime_ns):
            return 0
        with _open(self.rollouts) as file:
            start = mark.read_to if mark and _has_only_grown(mark, file, found.st_size) else 0
        return max(1, found.st_size - start)

    def update(self, progress: Progress) -> None:
        """Bring the index up to date: extend it if the file only grew, else build it again."""
        if not self.pending_bytes():
            return
        try:
            with _open(self.rollouts) as file, Drafts() as drafts:
                with drafts.open(self.path, replaces=anything):
                    self._write(drafts.current(self.path), file, progress)
                drafts.publish()
        except sqlite3.Error as error:
            raise FileError(f"cannot write the index of {self.rollouts}: {error}") from error

    def delete(self) -> None:
        """Delete the index, for a file that changed without another size or time."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(
                f"cannot delete the outdated index {self.path}: {error.strerror}"
            ) from error

    def find(self, task: int, rollout: int) -> ByteRange | None:
        """Return the position of a rollout, or None if the index does not have it."""
        with self.finder() as find:
            return find(task, rollout)

    @contextlib.contextmanager
    def finder(self) -> Iterator[Finder]:
        """Yield `find` for many rollouts: the index is opened only once."""
        try:
            with self._connect() as connection:
                yield lambda task, rollout: _find(connection, task, rollout)
        except sqlite3.Error as error:
            raise DamagedIndexError from error

    @property
    def skipped_line_count(self) -> int:
        """Return the number of lines without a rollout."""
        mark = self._mark()
        return mark.skipped if mark else 0

    def _mark(self) -> IndexMark | None:
        """Return the mark of the index, or None if it is missing, damaged or of another file."""
        try:
            with self._connect() as connection:
                row = connection.execute("select * from mark").fetchone()
                mark = IndexMark(*row) if row else None
        except (sqlite3.Error, TypeError):
            return None
        if row and [type(value) for value in row] != MARK_TYPES:
            return None
        return mark if mark and (mark.format, mark.path) == (FORMAT, self._name) else None

    @property
    def _name(self) -> str:
        return str(self.rollouts).encode("utf-8", "backslashreplace").decode()

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise sqlite3.OperationalError("there is no index")
        # the file is only ever replaced, so it needs no locks; its folder may be read-only
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection

    def _write(self, draft: Path, file: BinaryIO, progress: Progress) -> None:
        found = os.fstat(file.fileno())
        lines = _LineScan(file, found.st_size, progress)
        mark = self._mark()
        if mark and _has_only_grown(mark, file, found.st_size):
            shutil.copyfile(self.path, draft)
            lines.read_to, lines.skipped = mark.read_to, mark.skipped
            lines.last = ByteRange(mark.last_place, mark.last_length)
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            _fill(connection, lines, is_new=lines.read_to == 0)
            new = IndexMark(
                FORMAT, self._name, found.st_size, found.st_mtime_ns, lines.read_to,
                _hash(file, ByteRange(0, min(HEAD_BYTES, lines.read_to))),
                lines.last.offset, lines.last.length, _hash(file, lines.last), lines.skipped,
            )  # fmt: skip
            holes = ", ".join("?" * len(vars(new)))
            connection.execute(f"insert into mark values ({holes})", tuple(vars(new).values()))
            connection.execute("commit")


def _find(connection: sqlite3.Connection, task: int, rollout: int) -> ByteRange | None:
    query = "select place, length from offsets where task_index = ? and rollout_index = ?"
    try:
        row = connection.execute(query, (task, rollout)).fetchone()
    except OverflowError:
        return None
    except sqlite3.Error as error:  # the block of a finder may go on
        raise DamagedIndexError from error
    if row and not all(type(value) is int and value >= 0 for value in row):
        raise DamagedIndexError
    return ByteRange(*row) if row else None


def indices_of(line: bytes | dict[str, Any]) -> tuple[int, int] | None:
    """Return the task and rollout index of a line, or None if it lacks one of them."""
    try:
        row = _parse_line(line) if isinstance(line, bytes) else line
    except ValueError:
        return None
    task, rollout = row.get("_ng_task_index"), row.get("_ng_rollout_index")
    return (task, rollout) if _is_index(task) and _is_index(rollout) else None


def _parse_line(line: bytes) -> dict[str, Any]:
    # exact numbers beyond 64 bits cost `read_object` a third of its time, and are never indices
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return read_object(line)
    return value if isinstance(value, dict) else {}


def _is_index(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 1 << 63


def _fill(connection: sqlite3.Connection, lines: _LineScan, *, is_new: bool) -> None:
    connection.execute("pragma journal_mode = off")
    connection.execute("pragma synchronous = off")
    if is_new:
        connection.executescript(TABLES)
    connection.execute("begin")
    connection.execute("delete from mark")
    # an unfinished last line may have been indexed before: its new position replaces the old one
    connection.executemany("insert or replace into offsets values (?, ?, ?, ?)", lines.rows())


def _has_only_grown(mark: IndexMark, file: BinaryIO, size: int) -> bool:
    """Tell whether a file was only appended to, by its beginning and its last indexed line."""
    return (
        0 < mark.read_to <= mark.size < size
        and _hash(file, ByteRange(0, min(HEAD_BYTES, mark.read_to))) == mark.head
        and _hash(file, ByteRange(mark.last_place, mark.last_length)) == mark.last_hash
    )


def _hash(file: BinaryIO, position: ByteRange) -> str:
    file.seek(position.offset)
    return hashlib.md5(file.read(position.length)).hexdigest()


def _stat(path: Path) -> os.stat_result:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise FileError(_unreadable_message(path, error)) from error
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would block
        raise FileError(_unreadable_message(path, ValueError("it is not a file")))
    return status


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=1 << 20)
    except (OSError, ValueError) as error:
        raise FileError(_unreadable_message(path, error)) from error


def _unreadable_message(path: Path, error: OSError | ValueError) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"cannot read the rollouts file {path}: {reason}\n"
        "  what to do: put it back, or profile it again where it is now"
    )
