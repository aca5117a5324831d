"""The warehouse behind the pages, while somebody else writes to it."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from collector.errors import BusyError
from collector.viewer.marts import store
from collector.viewer.marts.store import Store

PAGES = 6


def test_pages_wait_together_for_a_warehouse_that_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_given_up = threading.Event()
    is_waiting = threading.Semaphore(0)
    opened: list[Path] = []

    class Watched(Future[None]):
        """Tells that somebody waits for it."""

        def result(self, timeout: float | None = None) -> None:
            is_waiting.release()
            super().result(timeout)

    def refuse(path: Path) -> None:
        opened.append(path)
        is_given_up.wait(60)
        raise BusyError("busy")

    monkeypatch.setattr(store, "_open", refuse)
    monkeypatch.setattr(store, "Future", Watched)
    shared = Store(tmp_path / "warehouse.duckdb")

    def ask() -> None:
        with shared.open_reader():
            pass

    with ThreadPoolExecutor(PAGES) as pool:
        pages = [pool.submit(ask) for _ in range(PAGES)]
        for _ in range(PAGES - 1):  # all but the one that opens it
            assert is_waiting.acquire(timeout=60)
        is_given_up.set()
        errors = [page.exception(timeout=60) for page in pages]
    assert [type(error) for error in errors] == [BusyError] * PAGES
    assert opened == [shared.path], "they share what one of them finds out"
