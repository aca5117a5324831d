"""A bar that says how far an export is, in rows."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

import duckdb

from collector.terminal import write_error

LOOK_SECONDS = 0.2
LOG_SECONDS = 30.0
WIDTH = 30


class Bar:
    """One line that is drawn again and again on a terminal, and told now and then elsewhere."""

    def __init__(self, writings: int) -> None:
        """Take how often each row is written."""
        self._is_live = sys.stderr is not None and sys.stderr.isatty()
        self._writings = max(1, writings)
        self._total = 0
        self._done = 0
        self._next = time.monotonic() + (0 if self._is_live else LOG_SECONDS)
        self._last_wait = ""

    def plan(self, rows: int) -> None:
        """Take how many rows there are."""
        self._total = rows * self._writings

    def wait(self, text: str) -> None:
        """Say what is being waited for, once."""
        if text != self._last_wait:
            write_error(f"{text}\n")
        self._last_wait = text

    @contextlib.contextmanager
    def step(
        self, name: str, rows: int, connection: duckdb.DuckDBPyConnection | None = None
    ) -> Iterator[None]:
        """Show a step that writes some rows; a query tells itself how far it is."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(LOOK_SECONDS):
                share = connection.query_progress() if connection else -1.0
                self.show(name, int(rows * max(0.0, min(share, 100.0)) / 100))

        self.show(name, 0)
        watcher = threading.Thread(target=watch, daemon=True)
        if connection:
            watcher.start()
        try:
            yield
        finally:
            over.set()
            if connection:
                watcher.join()
        self._done += rows

    def show(self, name: str, rows: int) -> None:
        """Show how far a step is, if it is time to."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + (LOOK_SECONDS if self._is_live else LOG_SECONDS)
        share = min(1.0, (self._done + rows) / self._total) if self._total else 1.0
        if not self._is_live:
            write_error(f"{100 * share:.0f} %, {name}\n")
            return
        full = round(WIDTH * share)
        line = f"[{'#' * full}{'-' * (WIDTH - full)}] {100 * share:3.0f} %  {name}"
        write_error(f"\r\x1b[K{line[: _columns() - 1]}")

    def clear(self) -> None:
        """Take the line away."""
        if self._is_live:
            write_error("\r\x1b[K")


def _columns() -> int:
    """Return how wide the terminal is that shows the bar; stdout may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
