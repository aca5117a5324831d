"""Reads single rollouts from their files, with the help of an index of byte offsets."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from collector.errors import FileError, SpotterError
from collector.jsonl import Row, read_object
from collector.temporary_files import temporary_folder
from collector.viewer.text import size, utc
from collector.viewer.transcripts.offsets import (
    INDEX_FOLDER,
    ByteRange,
    DamagedIndexError,
    Offsets,
    indices_of,
)

SMALL_BYTES = 64 << 20
SAY_SECONDS = 2.0


class NotReadyError(SpotterError):
    """The index of a file is not complete yet; `ratio` is the part that is done, from 0 to 1."""

    def __init__(self, path: Path, ratio: float) -> None:
        """Create the error for a file and the part that is done."""
        super().__init__(f"Spotter is indexing {path}: {100 * ratio:.0f} % done")
        self.path = path
        self.ratio = ratio


class _StoppedError(Exception):
    """The viewer stops while an index is built."""


@dataclass(frozen=True)
class IndexState:
    """The state of a file's index."""

    kind: Literal["ready", "building", "failed"]
    ratio: float = 1.0
    message: str = ""


@dataclass(frozen=True)
class StoredRollout:
    """A line of a rollouts file, parsed."""

    raw: bytes
    row: Row
    changed_at: datetime
    """When the file was last written to, in UTC."""


class Transcripts:
    """Reads rollouts from the files of a warehouse's runs, for pages in several threads.

    A small file is indexed while its page waits. Large files are indexed one by one in a
    background thread, beginning with the file that was requested last.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Create a reader that keeps its indexes below `folder` and reports progress to `say`."""
        self._say = say
        self._resources = contextlib.ExitStack()
        self._folder = self._index_folder(folder / INDEX_FOLDER)
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._queue: deque[Path] = deque()
        self._ratios: dict[Path, float] = {}
        self._failures: dict[Path, str] = {}
        self._building: dict[Path, threading.Lock] = {}
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def state(self, path: Path) -> IndexState:
        """Return whether a file is indexed, being indexed, or cannot be indexed."""
        path = path.absolute()
        with self._lock:
            if path in self._ratios:
                return IndexState("building", self._ratios[path])
            if path in self._failures:
                return IndexState("failed", 0.0, self._failures[path])
        try:
            pending = self._offsets(path).pending_bytes()
        except FileError as error:
            return IndexState("failed", 0.0, str(error))
        return IndexState("building", 0.0) if pending else IndexState("ready")

    def start(self, path: Path) -> None:
        """Index a file in the background, before the other files in the queue."""
        path = path.absolute()
        with self._lock:
            if path in self._queue:
                self._queue.remove(path)
            elif path in self._ratios or self._is_closed:
                return
            self._ratios.setdefault(path, 0.0)
            self._failures.pop(path, None)
            self._queue.appendleft(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="indexer", daemon=True)
                self._thread.start()
            self._wake.notify()

    def build(self, path: Path) -> None:
        """Index a file now unless it is indexed; raise FileError if that fails."""
        path = path.absolute()
        if self.state(path).kind != "building":
            return
        failure = self._build(path)
        self._end(path)
        if failure:
            raise FileError(failure)

    def read(self, path: Path, task: int, rollout: int) -> StoredRollout:
        """Return a rollout; raise NotReadyError during indexing, FileError if it is absent."""
        path = path.absolute()
        self._prepare(path)
        offsets = self._offsets(path)
        try:
            stored = _read_rollout(offsets, task, rollout)
            is_stale = stored is None and offsets.find(task, rollout) is not None
        except DamagedIndexError:
            stored, is_stale = None, True
        if is_stale:  # the index is damaged, or the file changed but not its size and time
            offsets.delete()
            self._prepare(path)
            stored = _read_again(offsets, task, rollout)
        if stored is None:
            raise FileError(
                f"{path} has no rollout {rollout} of task {task}\n"
                "  what to do: profile the file again, if it has changed"
            )
        return stored

    def close(self) -> None:
        """Stop indexing, and remove the temporary folder if there is one."""
        with self._lock:
            self._is_closed = True
            self._queue.clear()
            self._wake.notify()
            thread = self._thread
        if thread:
            thread.join(timeout=10)
        self._resources.close()

    def _prepare(self, path: Path) -> None:
        with self._lock:
            if path in self._ratios:
                self._to_front(path)
                raise NotReadyError(path, self._ratios[path])
            failure = self._failures.pop(path, None)
        if failure:  # report it once; the next request tries again
            raise FileError(failure)
        offsets = self._offsets(path)
        pending = offsets.pending_bytes()
        if pending >= SMALL_BYTES:
            self.start(path)
            raise NotReadyError(path, 0.0)
        if pending:
            with self._lock_of(path):
                offsets.update(lambda _done, _total: None)

    def _to_front(self, path: Path) -> None:
        if path in self._queue:
            self._queue.remove(path)
            self._queue.appendleft(path)

    def _lock_of(self, path: Path) -> threading.Lock:
        with self._lock:
            return self._building.setdefault(path, threading.Lock())

    def _offsets(self, path: Path) -> Offsets:
        return Offsets(path, self._folder)

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._queue and not self._is_closed:
                    self._wake.wait()
                if self._is_closed:
                    return
                path = self._queue.popleft()
            self._end(path, self._build(path))

    def _end(self, path: Path, failure: str = "") -> None:
        with self._lock:
            self._ratios.pop(path, None)
            if failure:
                self._failures[path] = failure

    def _build(self, path: Path) -> str:
        """Index a file and report its progress; return the error, or an empty text."""
        started = reported = time.monotonic()

        def progress(done: int, total: int) -> None:
            nonlocal reported
            if self._is_closed:
                raise _StoppedError
            with self._lock:
                self._ratios[path] = done / max(1, total)
            if time.monotonic() - reported > SAY_SECONDS:
                reported = time.monotonic()
                self._say(f"indexing {path.name}: {100 * done / max(1, total):.0f} %")

        try:
            self._say(f"indexing {path.name}: {size(path.stat().st_size)}B, once")
            with self._lock_of(path):
                self._offsets(path).update(progress)
        except _StoppedError:
            return ""
        except (SpotterError, OSError) as error:
            self._say(f"cannot index {path.name}: {error}")
            return str(error)
        self._say(f"indexed {path.name} in {time.monotonic() - started:.1f} s")
        return ""

    def _index_folder(self, folder: Path) -> Path:
        """Return the folder if it is writable, else a temporary folder."""
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        return self._resources.enter_context(temporary_folder())


def _read_again(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    try:
        return _read_rollout(offsets, task, rollout)
    except DamagedIndexError as error:
        raise FileError(f"the index {offsets.path} is damaged right after it was built") from error


def _read_rollout(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    """Return the line at the indexed position, or None if it is not that of the rollout."""
    position = offsets.find(task, rollout)
    if position is None:
        return None
    raw, changed_at = _read_bytes(offsets.rollouts, position)
    try:
        row = read_object(raw)
    except ValueError:
        return None
    if indices_of(row) != (task, rollout):
        return None
    return StoredRollout(raw, row, changed_at)


def _read_bytes(path: Path, position: ByteRange) -> tuple[bytes, datetime]:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            file.seek(position.offset)
            return file.read(min(position.length, status.st_size)), utc(status.st_mtime)
    except OSError as error:
        raise FileError(
            f"cannot read the rollouts file {path}: {error.strerror}\n"
            "  what to do: put it back, or profile it again where it is now"
        ) from error
