"""Show how far an export is, in rows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import duckdb

from collector.terminal import Progress

POLL_SECONDS = 0.2


class Bar(Progress):
    """The progress of an export, whose rows are written several times."""

    def __init__(self, writings: int) -> None:
        """Take how often each row is written."""
        super().__init__()
        self._writings = max(1, writings)
        self._total = 0
        self._done = 0

    def plan(self, rows: int) -> None:
        """Take how many rows there are."""
        self._total = rows * self._writings

    @contextlib.contextmanager
    def step(
        self, name: str, rows: int, connection: duckdb.DuckDBPyConnection | None = None
    ) -> Iterator[None]:
        """Show a step that writes some rows; a connection reports how far its query is."""
        is_over = threading.Event()

        def poll() -> None:
            while not is_over.wait(POLL_SECONDS):
                share = connection.query_progress() if connection else -1.0
                self.show(name, int(rows * max(0.0, min(share, 100.0)) / 100))

        self.show(name, 0)
        watcher = threading.Thread(target=poll, daemon=True)
        if connection:
            watcher.start()
        try:
            yield
        finally:
            is_over.set()
            if connection:
                watcher.join()
        self._done += rows

    def show(self, name: str, rows: int) -> None:
        """Show how many rows of a step are written."""
        share = min(1.0, (self._done + rows) / self._total) if self._total else 1.0
        text = f"{100 * share:.0f} %"
        self.draw(f"{text:>5}  {name}", share, log=f"{text}, {name}")
