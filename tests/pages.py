"""Asking the viewer's pages as a browser does, without a server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from collector.viewer.comparisons import Comparisons
from collector.viewer.context import Viewer
from collector.viewer.live_runs import LiveRuns
from collector.viewer.marts.store import Store
from collector.viewer.render import problem_page
from collector.viewer.searches import Searches
from collector.viewer.selections import Selections
from collector.viewer.transcripts.files import Transcripts


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem_page("Not found", error.detail, status=error.status_code)


def app_of(warehouse: Path, routes: Iterable[BaseRoute]) -> Starlette:
    """Some pages of the viewer."""
    app = Starlette(routes=list(routes), exception_handlers={HTTPException: _problem})
    transcripts = Transcripts(warehouse.parent, lambda _: None)
    comparisons = Comparisons(warehouse, patience_seconds=120)
    selections = Selections(warehouse, patience_seconds=120)
    live_runs = LiveRuns(warehouse)
    searches = Searches(transcripts.folder)
    app.state.viewer = Viewer(
        Store(warehouse), transcripts, live_runs, comparisons, selections, searches
    )
    return app


def client_of(app: Starlette) -> httpx.AsyncClient:
    """A browser, more or less."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://viewer", timeout=60
    )


def get(app: Starlette, address: str) -> httpx.Response:
    """Return the response of a page; an exception inside the page is raised here."""

    async def ask() -> httpx.Response:
        async with client_of(app) as client:
            return await client.get(address)

    try:
        return asyncio.run(ask())
    finally:
        app.state.viewer.store.close()  # else it stays open for a moment, even beyond the test


def link(html: str, text: str) -> str | None:
    """Where the link with this text leads."""
    found = re.search(rf'<a [^>]*href="([^"]*)"[^>]*>{re.escape(text)}</a>', html)
    return unescape(found[1]) if found else None
