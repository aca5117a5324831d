"""Reads single rollouts for pages, and indexes large files in the background."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from collector.errors import FileError, SpotterError
from collector.rollout_offsets import Offsets
from collector.stored_rollouts import StoredRollout, index_folder, read_stored
from collector.viewer.text import size

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


class Transcripts:
    """Reads rollouts from the files of a warehouse's runs, for pages in several threads.

    A small file is indexed while its page waits. Large files are indexed one by one in a
    background thread, beginning with the file that was requested last.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Create a reader that keeps its indexes below `folder` and reports progress to `say`."""
        self._say = say
        self._resources = contextlib.ExitStack()
        self.folder = self._resources.enter_context(index_folder(folder))
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
        return read_stored(self._offsets(path), task, rollout, lambda: self._prepare(path))

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
        return Offsets(path, self.folder)

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
