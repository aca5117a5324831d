"""An index of the byte offsets of rollouts in their file, built once and kept on disk."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from collector.atomic_files import Drafts, anything
from collector.errors import FileError
from collector.rollout_lines import (
    ByteRange,
    IndexMark,
    LineScan,
    Progress,
    checked_mark,
    index_path,
    open_rollouts,
    pending_bytes,
)

FORMAT = 1
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
Finder = Callable[[int, int], ByteRange | None]


class DamagedIndexError(Exception):
    """The index on disk is unusable and must be built again."""


class Offsets:
    """The index of one rollouts file, which a new index replaces and nothing changes.

    So several processes can build it at once, and a killed process leaves the old index.
    """

    def __init__(self, rollouts: Path, folder: Path) -> None:
        """Create the index of a rollouts file; its own file is in `folder`."""
        self.rollouts = rollouts.absolute()
        self.path = index_path(self.rollouts, folder, ".sqlite")

    def pending_bytes(self) -> int:
        """Return how many bytes must be read to bring the index up to date."""
        return pending_bytes(self._mark(), self.rollouts)

    def update(self, progress: Progress) -> None:
        """Bring the index up to date: extend it if the file only grew, else build it again."""
        if not self.pending_bytes():
            return
        try:
            with open_rollouts(self.rollouts) as file, Drafts() as drafts:
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
        except sqlite3.Error:
            return None
        return checked_mark(list(row), FORMAT, self.rollouts) if row else None

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise sqlite3.OperationalError("there is no index")
        # the file is only ever replaced, so it needs no locks; its folder may be read-only
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection

    def _write(self, draft: Path, file: BinaryIO, progress: Progress) -> None:
        scan = LineScan(file, progress)
        is_extended = scan.continue_from(self._mark())
        if is_extended:
            shutil.copyfile(self.path, draft)
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            _fill(connection, scan, is_new=not is_extended)
            values = tuple(vars(scan.mark(FORMAT, self.rollouts)).values())
            holes = ", ".join("?" * len(values))
            connection.execute(f"insert into mark values ({holes})", values)
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


def _fill(connection: sqlite3.Connection, scan: LineScan, *, is_new: bool) -> None:
    connection.execute("pragma journal_mode = off")
    connection.execute("pragma synchronous = off")
    if is_new:
        connection.executescript(TABLES)
    connection.execute("begin")
    connection.execute("delete from mark")
    # an unfinished last line may have been indexed before: its new position replaces the old one
    positions = ((*line.key, line.position.offset, line.position.length) for line in scan.lines())
    connection.executemany("insert or replace into offsets values (?, ?, ?, ?)", positions)
