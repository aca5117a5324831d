"""The files of a warehouse: the one that is written, its log, and the mark of a waiting writer."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from collector.errors import FileError
from collector.temporary_files import is_at, try_lock

DESCRIPTORS = Path("/dev/fd")


def log_path(path: Path) -> Path:
    """Return the write-ahead log of a warehouse, which DuckDB applies when it opens the file."""
    return path.with_name(f"{path.name}.wal")


class WrittenFile:
    """A warehouse file that this process has attached."""

    def __init__(self, path: Path, *, is_new: bool, had_log: bool) -> None:
        """Remember which file is at the path now."""
        self.path = path
        self.is_committed = False
        self._is_new = is_new
        self._had_log = had_log
        self._status = self._current()

    def is_open(self) -> bool:
        """Tell whether the file at the path is open here; True if the system does not say."""
        if self._status is None:
            return False
        try:
            names = os.listdir(DESCRIPTORS)  # noqa: PTH208 - not Paths
        except OSError:
            return True
        for name in names:
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                if os.path.samestat(os.fstat(int(name)), self._status):
                    return True
        return False

    def check(self) -> None:
        """Raise FileError if the path leads to another file than at first, or to none."""
        current = self._current()
        if not (current and self._status and os.path.samestat(current, self._status)):
            raise FileError(
                f"{self.path} was removed or replaced while it was being written\n"
                "  what to do: profile again"
            )

    def undo(self) -> None:
        """Remove what the failed transaction created, while this process still has the lock."""
        with contextlib.suppress(OSError, FileError):
            self.check()
            log = log_path(self.path)
            if self._is_new or (not self._had_log and log.stat().st_size == 0):
                log.unlink(missing_ok=True)
            if self._is_new:
                self.path.unlink(missing_ok=True)

    def _current(self) -> os.stat_result | None:
        try:
            return self.path.stat()
        except OSError:
            return None


class WaitingMark:
    """A file beside a warehouse that exists while a writer waits, so that a viewer lets go.

    A lock on it tells whether the writer is alive. Several writers share the file.
    """

    def __init__(self, path: Path) -> None:
        """Take the path of the warehouse, and create nothing yet."""
        self._path = waiting_path(path)
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Return the mark."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the mark; another writer that still waits creates it again."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)

    def set(self) -> None:
        """Create the mark, unless it is there; a writer that cannot is not waited for."""
        if self._descriptor is not None and is_at(self._descriptor, self._path):
            return
        with contextlib.suppress(OSError):
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try_lock(self._descriptor, is_shared=True)


def has_waiting_writer(path: Path) -> bool:
    """Tell whether another process waits to write; remove the mark of a dead one."""
    mark = waiting_path(path)
    try:
        descriptor = os.open(mark, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        has_lock = try_lock(descriptor)
        if has_lock and is_at(descriptor, mark):
            mark.unlink(missing_ok=True)
        return has_lock is False
    except OSError:
        return False
    finally:
        os.close(descriptor)


def waiting_path(path: Path) -> Path:
    """Return the path of the mark of a warehouse."""
    return path.with_name(f".{path.name}.waiting")
