"""Append-only files whose lines survive a crash: each line is whole or absent."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from collector.errors import FileError
from collector.jsonl import last_line, parse_object
from collector.temporary_files import is_at, try_lock

SYNC_LINES = 32
SYNC_SECONDS = 1.0
RESUME = "everything up to here is kept: make room and continue with --resume"


class Journal:
    """A file that grows by whole lines."""

    def __init__(self, path: Path, *, is_locked: bool = False) -> None:
        """Open the file; with `is_locked`, raise FileError if another collector has it open."""
        self.path = path
        self.is_new = not os.path.lexists(path)
        self.has_lock = is_locked
        if is_locked:
            self._descriptor, self.has_lock = _open_locked(path)
        else:
            self._descriptor = _open(path)
        self._size = os.fstat(self._descriptor).st_size
        self.unsynced = 0

    def append(self, line: bytes) -> None:
        """Write a line; if it does not fit, leave the file as it was."""
        whole = line + b"\n"
        try:
            written = os.write(self._descriptor, whole)
            if written < len(whole):  # the second write says why
                os.write(self._descriptor, whole[written:])
                raise OSError(0, "a line was written in part")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise FileError(f"cannot write {self.path}: {error.strerror}\n  {RESUME}") from error
        self._size += len(whole)
        self.unsynced += 1

    def sync(self) -> None:
        """Force the written lines to the disk."""
        self.unsynced = 0
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}\n  {RESUME}") from error

    def empty(self) -> None:
        """Remove every line."""
        os.ftruncate(self._descriptor, 0)
        self._size = 0

    def is_empty(self) -> bool:
        """Tell whether there is no line."""
        return self._size == 0

    def check_identity(self) -> None:
        """Raise FileError if the path no longer leads to the open file: its lines would be lost."""
        if not is_at(self._descriptor, self.path):
            raise FileError(f"{self.path} was removed or replaced while it was being written")

    def repair(self) -> str | None:
        """Complete or set aside an unfinished last line; return a message about it."""
        tail = last_line(self.path)
        if not tail:
            return None
        if not tail.strip():
            self._cut(len(tail))
            return None
        try:
            parse_object(tail)
        except ValueError:
            return self._set_aside(tail)
        self.append(b"")
        return f"{self.path}: the last line had no newline; it is whole and was completed"

    def close(self) -> None:
        """Force everything to the disk, close the file and release the lock."""
        try:
            self.sync()
        finally:
            os.close(self._descriptor)

    def _set_aside(self, tail: bytes) -> str:
        torn = self.path.with_name(self.path.name + ".torn")
        aside = Journal(torn)
        aside.append(tail)
        aside.close()
        self._cut(len(tail))
        return (
            f"{self.path}: the last line was cut short by a crash ({len(tail)} bytes);"
            f" it was moved to {torn.name}, and its rollout runs again"
        )

    def _cut(self, count: int) -> None:
        self._size -= count
        os.ftruncate(self._descriptor, self._size)


class Syncer:
    """Forces journals to the disk in groups, in a thread, while the collection goes on."""

    def __init__(self, journals: list[Journal]) -> None:
        """Prepare to sync these journals."""
        self._journals = journals
        self._is_due = asyncio.Event()

    def note(self) -> None:
        """Wake the syncer if enough lines were written since the last sync."""
        if any(journal.unsynced >= SYNC_LINES for journal in self._journals):
            self._is_due.set()

    async def run(self) -> None:
        """Sync every so many lines and every so many seconds until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), SYNC_SECONDS)
            self._is_due.clear()
            for journal in self._journals:
                if journal.unsynced:
                    await asyncio.to_thread(journal.sync)


def _open(path: Path) -> int:
    try:
        if path.exists() and not path.is_file():
            raise FileError(f"cannot write {path}: the path exists and is not a regular file")
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from error


def _open_locked(path: Path) -> tuple[int, bool]:
    """Return the descriptor, and whether it has a lock: some file systems have none."""
    while True:
        descriptor = _open(path)
        has_lock = try_lock(descriptor)
        if has_lock is False:
            os.close(descriptor)
            raise FileError(
                f"another collector is writing {path}\n"
                "  what to do: wait for it, or give another output_jsonl_fpath"
            )
        if is_at(descriptor, path):
            return descriptor, has_lock is True
        os.close(descriptor)  # removed between opening and locking
