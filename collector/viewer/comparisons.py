"""Compares runs for the pages, in another process, and keeps the latest comparisons."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from collector.child_process import failure_reason
from collector.comparing.compare import ComparisonSettings, Pair
from collector.comparing.worker import request_of, worker_command
from collector.errors import FileError, SpotterError
from collector.viewer.marts.store import MEMORY_LIMIT, Reader
from collector.warehouse.queries import open_read_only

PATIENCE_SECONDS = 4.0
KEPT = 16
STOP_SECONDS = 2.0


class ComparingError(SpotterError):
    """The comparison takes longer than a page waits for it."""


@dataclass(frozen=True)
class ComparisonKey:
    """What a comparison depends on: a run that is profiled again is compared again."""

    pair: Pair
    settings: ComparisonSettings
    profiled_at: tuple[datetime, datetime]


@dataclass
class Comparisons:
    """Compares pairs of runs of a warehouse, one at a time; the warehouse is only read.

    Each comparison is a small DuckDB file in a temporary folder. It is not in this process, because
    a second connection to the warehouse would release the lock of the first one when it closes.
    """

    warehouse: Path
    patience_seconds: float = PATIENCE_SECONDS
    """How long a page waits for a comparison before it says so."""
    _futures: OrderedDict[ComparisonKey, Future[Path]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _folder: str = ""
    _process: subprocess.Popen[bytes] | None = None
    _count: int = 0
    _is_closed: bool = False

    @contextlib.contextmanager
    def open_reader(self, key: ComparisonKey) -> Iterator[Reader]:
        """Give a reader of the comparison marts of a pair.

        Raise ComparingError if they are not ready yet, and FileError if comparing fails.
        """
        with self._lock:
            future = self._futures.get(key) or self._start(key)
            self._futures.move_to_end(key)
        try:
            path = future.result(self.patience_seconds)
        except TimeoutError as error:
            raise ComparingError("The runs are being compared. This page reloads.") from error
        except SpotterError:
            with self._lock:
                self._futures.pop(key, None)  # the next page tries again
            raise
        connection = open_read_only(path, on_wait=lambda _: None, memory_limit=MEMORY_LIMIT)
        with contextlib.closing(connection):
            yield Reader(connection)

    def close(self) -> None:
        """Stop the current comparison, and remove all files."""
        self._is_closed = True
        process = self._process
        if process and process.poll() is None:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, key: ComparisonKey) -> Future[Path]:
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="spotter-comparisons-")
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._count += 1
        target = Path(self._folder, f"{self._count}.duckdb")
        future: Future[Path] = Future()
        self._futures[key] = future
        self._forget_oldest()
        threading.Thread(target=self._compare, args=(key, target, future), daemon=True).start()
        return future

    def _forget_oldest(self) -> None:
        done = [key for key, future in self._futures.items() if future.done()]
        for key in done[: max(0, len(self._futures) - KEPT)]:
            future = self._futures.pop(key)
            if not future.exception():
                future.result().unlink(missing_ok=True)

    def _compare(self, key: ComparisonKey, target: Path, future: Future[Path]) -> None:
        try:
            with self._turn:
                reason = self._run_worker(key, target)
        except OSError as error:
            reason = str(error)
        if reason:
            future.set_exception(FileError(f"the runs could not be compared: {reason}"))
        else:
            future.set_result(target)

    def _run_worker(self, key: ComparisonKey, target: Path) -> str:
        """Compare in another process; return the error, or an empty text."""
        if self._is_closed:
            return "the viewer stops"
        process = self._process = subprocess.Popen(
            worker_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to the viewer only, which ends the worker
        )
        request = request_of(self.warehouse, key.pair, key.settings, target)
        printed, complaints = process.communicate(request)
        return failure_reason(process.returncode, printed, complaints) if process.returncode else ""
