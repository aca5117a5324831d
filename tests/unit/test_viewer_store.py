"""The warehouse behind the pages, while somebody else writes to it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
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
    opened: list[Path] = []

    def refuse(path: Path) -> None:
        opened.append(path)
        is_given_up.wait(60)
        raise BusyError("busy")

    monkeypatch.setattr(store, "_open", refuse)
    shared = Store(tmp_path / "warehouse.duckdb")
    waiting = threading.Barrier(PAGES + 1)

    def ask() -> None:
        waiting.wait(60)
        with shared.reading():
            pass

    with ThreadPoolExecutor(PAGES) as pool:
        pages = [pool.submit(ask) for _ in range(PAGES)]
        waiting.wait(60)
        is_over = threading.Timer(2, is_given_up.set)  # when all of them wait
        is_over.start()
        errors = [page.exception(timeout=60) for page in pages]
    assert [type(error) for error in errors] == [BusyError] * PAGES
    assert len(opened) < PAGES, "they share what one of them finds out"
