"""The viewer's web application: its routes and its error pages."""

from __future__ import annotations

from pathlib import Path

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from collector.errors import BusyError, SpotterError
from collector.viewer.context import Viewer
from collector.viewer.guard import Guard
from collector.viewer.links import address
from collector.viewer.marts.store import MEMORY_LIMIT
from collector.viewer.pages import compare, curate, rollout, rollouts, run, runs, sql, task, tasks
from collector.viewer.render import problem_page

STATIC = Path(__file__).parent / "static"
PAGES = (runs, compare, run, tasks, curate, task, rollouts, rollout, sql)


def make_app(viewer: Viewer, guard: Guard) -> Starlette:
    """Return the application; every request passes the guard first."""
    app = Starlette(
        routes=[
            *(route for module in PAGES for route in module.ROUTES),
            Mount("/static", StaticFiles(directory=STATIC)),
            # a response that is not HTML names no icon, so browsers request this path
            Route("/favicon.ico", _icon),
        ],
        exception_handlers={
            HTTPException: _http_problem,
            SpotterError: _file_problem,
            duckdb.Error: _query_problem,
            RecursionError: _too_deep,
        },
        middleware=guard.middleware(),
    )
    app.state.viewer = viewer
    return app


async def _icon(_: Request) -> Response:
    return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")


async def _http_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = "Not found" if error.status_code == 404 else "This page cannot be shown"
    return problem_page(title, error.detail, status=error.status_code)


async def _file_problem(_: Request, error: Exception) -> Response:
    if isinstance(error, BusyError):
        message = "Another process is writing to the warehouse. This page reloads by itself."
        return problem_page("One moment", message, status=503, reload_seconds=2)
    return problem_page("This page cannot be shown", str(error), status=500)


async def _too_deep(request: Request, _: Exception) -> Response:
    raw = address("/rollout/raw", **request.query_params)
    message = "The JSON of this rollout is nested too deeply to show."
    return problem_page("This page cannot be shown", message, status=500, raw=raw)


async def _query_problem(_: Request, error: Exception) -> Response:
    if isinstance(error, duckdb.OutOfMemoryException):
        message = (
            f"This page needs more than {MEMORY_LIMIT} of memory, the limit for pages. Filter the"
            " table, sort it by another column, or use the SQL page."
        )
        return problem_page("This page needs too much memory", message, status=500)
    return problem_page("The warehouse cannot be read", str(error).splitlines()[0], status=500)
