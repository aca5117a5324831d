"""Read single rollouts from their files: transcripts stay there, and are found by an index."""

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
    """The index of a file is still being built: how much of it is done."""

    def __init__(self, path: Path, ratio: float) -> None:
        """Keep how far it is."""
        super().__init__(f"{path} is being indexed: {100 * ratio:.0f} % done")
        self.path = path
        self.ratio = ratio


class _StoppedError(Exception):
    """The viewer ends while an index is built."""


@dataclass(frozen=True)
class IndexState:
    """How far the index of a file is."""

    kind: Literal["ready", "building", "failed"]
    ratio: float = 1.0
    message: str = ""


@dataclass(frozen=True)
class StoredRollout:
    """A rollout as it stands in its file."""

    raw: bytes
    row: Row
    changed_at: datetime
    """When the file was last written to, in UTC."""


class Transcripts:
    """The rollouts files behind a warehouse; pages use it from several threads.

    A small file is indexed while its page waits. A large one is indexed by one thread in the
    background, the one that was asked for last first.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Take the folder of the warehouse, where indexes are kept, and a way to tell progress."""
        self._say = say
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._folder = self._writable(folder / INDEX_FOLDER)
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._queue: deque[Path] = deque()
        self._ratios: dict[Path, float] = {}
        self._failures: dict[Path, str] = {}
        self._building: dict[Path, threading.Lock] = {}
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def state(self, path: Path) -> IndexState:
        """Tell whether rollouts can be read from a file."""
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
        """Begin to index a file in the background, before others that wait."""
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
        """Index a file now, if it is not yet."""
        path = path.absolute()
        if self.state(path).kind != "building":
            return
        failure = self._build(path)
        self._end(path)
        if failure:
            raise FileError(failure)

    def read(self, path: Path, task: int, rollout: int) -> StoredRollout:
        """Return a rollout; raise NotReadyError while its file is indexed."""
        path = path.absolute()
        self._prepare(path)
        offsets = self._offsets(path)
        try:
            found = _read_place(offsets, task, rollout)
            is_stale = found is None and offsets.find(task, rollout) is not None
        except DamagedIndexError:
            found, is_stale = None, True
        if is_stale:  # or the file was rewritten without a sign of it
            offsets.delete()
            self._prepare(path)
            found = _read_again(offsets, task, rollout)
        if found is None:
            raise FileError(
                f"there is no rollout {rollout} of task {task} in {path}\n"
                "  what to do: profile the file again, if it has changed"
            )
        return found

    def close(self) -> None:
        """Stop indexing, and remove what was only kept for the life of the process."""
        with self._lock:
            self._is_closed = True
            self._queue.clear()
            self._wake.notify()
            thread = self._thread
        if thread:
            thread.join(timeout=10)
        if self._temporary:
            self._temporary.cleanup()

    def _prepare(self, path: Path) -> None:
        with self._lock:
            if path in self._ratios:
                self._to_front(path)
                raise NotReadyError(path, self._ratios[path])
            failure = self._failures.pop(path, None)
        if failure:  # the next request tries again
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
        """Index a file and tell how it goes; return what went wrong."""
        began = said = time.monotonic()

        def progress(done: int, total: int) -> None:
            nonlocal said
            if self._is_closed:
                raise _StoppedError
            with self._lock:
                self._ratios[path] = done / max(1, total)
            if time.monotonic() - said > SAY_SECONDS:
                said = time.monotonic()
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
        self._say(f"indexed {path.name} in {time.monotonic() - began:.1f} s")
        return ""

    def _writable(self, folder: Path) -> Path:
        """Return the folder if files can be made in it, else one for the life of the process."""
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        self._temporary = tempfile.TemporaryDirectory(prefix="spotter-index-")
        return Path(self._temporary.name)


def _read_again(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    try:
        return _read_place(offsets, task, rollout)
    except DamagedIndexError as error:
        raise FileError(f"the index {offsets.path} was damaged as soon as it was made") from error


def _read_place(offsets: Offsets, task: int, rollout: int) -> StoredRollout | None:
    """Read a line if it is really that of the rollout."""
    place = offsets.find(task, rollout)
    if place is None:
        return None
    raw, changed_at = _read(offsets.rollouts, place)
    try:
        row = read_object(raw)
    except ValueError:
        return None
    if indices_of(row) != (task, rollout):
        return None
    return StoredRollout(raw, row, changed_at)


def _read(path: Path, place: ByteRange) -> tuple[bytes, datetime]:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            file.seek(place.offset)
            return file.read(min(place.length, found.st_size)), utc(found.st_mtime)
    except OSError as error:
        raise FileError(
            f"cannot read the rollouts file {path}: {error.strerror}\n"
            "  what to do: put it back, or profile it again where it is now"
        ) from error
