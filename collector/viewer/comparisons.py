"""Compares runs for the pages, in another process, and keeps the latest comparisons."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from collector.comparing.compare import ComparisonSettings, Pair
from collector.comparing.worker import request_of, worker_command
from collector.errors import SpotterError
from collector.temporary_files import temporary_folder
from collector.viewer.background import PATIENCE_SECONDS, BackgroundWork, WaitingError
from collector.viewer.marts.store import MEMORY_LIMIT, Reader
from collector.warehouse.queries import open_read_only


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
    _folder: Path | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Prepare to compare."""
        self._resources = contextlib.ExitStack()
        weakref.finalize(self, self._resources.close)
        self._work = BackgroundWork[ComparisonKey, Path](
            self._compare,
            "the runs could not be compared",
            lambda path: path.unlink(missing_ok=True),
        )

    @contextlib.contextmanager
    def open_reader(self, key: ComparisonKey) -> Iterator[Reader]:
        """Give a reader of the comparison marts of a pair.

        Raise ComparingError if they are not ready yet, and FileError if comparing fails.
        """
        try:
            path = self._work.result(key, self.patience_seconds)
        except WaitingError as error:
            raise ComparingError("The runs are being compared. This page reloads.") from error
        connection = open_read_only(path, on_wait=lambda _: None, memory_limit=MEMORY_LIMIT)
        with contextlib.closing(connection):
            yield Reader(connection)

    def close(self) -> None:
        """Stop the current comparison, and remove all files."""
        self._work.close()
        self._resources.close()

    def _compare(self, key: ComparisonKey) -> Path:
        if not self._folder:
            self._folder = self._resources.enter_context(temporary_folder())
        target = self._folder / f"{next(self._numbers)}.duckdb"
        request = request_of(self.warehouse, key.pair, key.settings, target)
        self._work.run_worker(worker_command(), request)
        return target
