"""Read single rollouts from their file, with the help of an index of byte offsets."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from collector.errors import FileError
from collector.jsonl import Row, read_object
from collector.keys import Key
from collector.rollout_lines import INDEX_FOLDER, ByteRange, indices_of
from collector.rollout_offsets import DamagedIndexError, Finder, Offsets
from collector.temporary_files import temporary_folder, unnamed_file

Reader = Callable[[int, int], Row]
"""Returns the row of a task index and a rollout index."""


@dataclass(frozen=True)
class StoredRollout:
    """A line of a rollouts file, parsed."""

    raw: bytes
    row: Row
    changed_at: datetime
    """When the file was last written to: UTC without a zone, as in the marts."""


@contextlib.contextmanager
def index_folder(parent: Path) -> Iterator[Path]:
    """Yield the folder of the indexes in `parent`, or a temporary folder if it is not writable."""
    folder = parent / INDEX_FOLDER
    is_writable = False
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        with unnamed_file(folder):
            is_writable = True
    with contextlib.nullcontext(folder) if is_writable else temporary_folder() as found:
        yield found


@contextlib.contextmanager
def open_reader(paths: Sequence[Path], index_parent: Path) -> Iterator[Reader]:
    """Yield a function that returns the row of a task and rollout index, of files with both.

    The indexes are kept in `index_parent`. The function raises FileError if no file has such a row.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(index_folder(index_parent))
        readers = [stack.enter_context(_open_file(path, folder)) for path in paths]

        def read(task: int, rollout: int) -> Row:
            for reader in readers[:-1]:
                with contextlib.suppress(FileError):
                    return reader(task, rollout)
            return readers[-1](task, rollout)

        yield read


@contextlib.contextmanager
def _open_file(path: Path, folder: Path) -> Iterator[Reader]:
    offsets = Offsets(path, folder)
    offsets.update(_ignore)
    with offsets.finder() as find:
        yield lambda task, rollout: _read_row(offsets, find, task, rollout)


def _read_row(offsets: Offsets, find: Finder, task: int, rollout: int) -> Row:
    with contextlib.suppress(DamagedIndexError):
        position = find(task, rollout)
        stored = position and read_line(offsets.rollouts, position, (task, rollout))
        if stored:
            return stored.row
    return read_stored(offsets, task, rollout, lambda: offsets.update(_ignore)).row


def _ignore(_done: int, _total: int) -> None:
    """Report no progress."""


def read_stored(
    offsets: Offsets, task: int, rollout: int, update: Callable[[], None]
) -> StoredRollout:
    """Return a rollout; raise FileError if the file does not have it.

    `update` brings the index up to date. It is called before each look at the index.
    """
    update()
    try:
        stored = _read_rollout(offsets, task, rollout)
        is_stale = stored is None and offsets.find(task, rollout) is not None
    except DamagedIndexError:
        stored, is_stale = None, True
    if is_stale:  # the index is damaged, or the file changed but not its size and time
        offsets.delete()
        update()
        stored = _read_again(offsets, task, rollout)
    if stored is None:
        raise FileError(
            f"{offsets.rollouts} has no rollout {rollout} of task {task}\n"
            "  what to do: profile the file again, if it has changed"
        )
    return stored


def _read_again(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    try:
        return _read_rollout(offsets, task, rollout)
    except DamagedIndexError as error:
        raise FileError(f"the index {offsets.path} is damaged right after it was built") from error


def _read_rollout(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    position = offsets.find(task, rollout)
    return read_line(offsets.rollouts, position, (task, rollout)) if position else None


def read_line(path: Path, position: ByteRange, key: Key) -> StoredRollout | None:
    """Return the line at an indexed position, or None if it is not that of the rollout."""
    raw, changed_at = _read_bytes(path, position)
    try:
        row = read_object(raw)
    except ValueError:
        return None
    if indices_of(row) != key:
        return None
    return StoredRollout(raw, row, changed_at)


def _read_bytes(path: Path, position: ByteRange) -> tuple[bytes, datetime]:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            file.seek(position.offset)
            raw = file.read(min(position.length, status.st_size))
            return raw, datetime.fromtimestamp(status.st_mtime, UTC).replace(tzinfo=None)
    except OSError as error:
        raise FileError(
            f"cannot read the rollouts file {path}: {error.strerror}\n"
            "  what to do: put it back, or profile it again where it is now"
        ) from error
