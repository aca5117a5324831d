"""The SQL page: runs a query on the warehouse, and shows the result or sends it as CSV."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import IO, Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from collector.viewer.context import viewer_of
from collector.viewer.links import Links
from collector.viewer.marts.result_links import result_links
from collector.viewer.marts.store import Query, Store
from collector.viewer.render import page, problem_page
from collector.viewer.sandbox.runner import QueryError, Sandbox, SandboxResult, TooManyQueriesError
from collector.viewer.starter_queries import EXAMPLES
from collector.warehouse.queries import MARTS, Mart

T = TypeVar("T")
CHECK_SECONDS = 0.25
CHUNK_BYTES = 1 << 18
CROSS_SITE = ("cross-site", "same-site")


async def show_sql(request: Request) -> Response:
    """Show the page; run the query unless a link on another site led here."""
    query = _query_text(request)
    result: SandboxResult | None = None
    error: QueryError | None = None
    if query and not _is_cross_site(request):
        try:
            result = await _cancel_on_disconnect(request, _sandbox(request).run_query(query))
        except QueryError as query_error:
            error = query_error
        except TooManyQueriesError as busy_error:
            return _busy_page(busy_error)
    marts, run_ids = await run_in_threadpool(_read_marts, viewer_of(request).store)
    return await run_in_threadpool(  # rendering a long result takes long
        page,
        "sql.html",
        status=400 if error else 200,
        title="SQL",
        crumbs=[("SQL", None)],
        query=query,
        result=result,
        error=error,
        is_waiting=bool(query) and result is None and error is None,
        limits=_sandbox(request).limits,
        marts=marts,
        row_links=result_links(result.columns if result else [], run_ids, Links()),
        examples=EXAMPLES,
    )


async def send_csv(request: Request) -> Response:
    """Send the whole result as a CSV file, or a page that says why it cannot be sent."""
    query = _query_text(request)
    if not query:
        return problem_page(
            "Nothing to download", "The address does not contain a query.", status=400
        )
    if _is_cross_site(request):
        return problem_page(
            "The query was not run",
            "A link on another site led to this file. To get it, run the query on the SQL page.",
            status=403,
        )
    try:
        file = await _cancel_on_disconnect(request, _sandbox(request).write_csv(query))
    except QueryError as error:
        return problem_page("The file cannot be downloaded", str(error), status=400)
    except TooManyQueriesError as error:
        return _busy_page(error)
    headers = {"Content-Disposition": 'attachment; filename="query.csv"'}
    return StreamingResponse(
        _file_chunks(file), media_type="text/csv; charset=utf-8", headers=headers
    )


ROUTES = [Route("/sql", show_sql), Route("/sql.csv", send_csv)]


def _query_text(request: Request) -> str:
    # browsers send the line ends of a form as \r\n
    return request.query_params.get("q", "").replace("\r\n", "\n").strip()


def _is_cross_site(request: Request) -> bool:
    """Tell whether a link on another site led here; such a query is shown, but not run."""
    return request.headers.get("sec-fetch-site") in CROSS_SITE


def _sandbox(request: Request) -> Sandbox:
    state = request.app.state
    if not hasattr(state, "sandbox"):
        state.sandbox = Sandbox(viewer_of(request).store.path)
    sandbox: Sandbox = state.sandbox
    return sandbox


def _busy_page(error: TooManyQueriesError) -> Response:
    return problem_page("One moment", f"{str(error).capitalize()}.", status=503)


def _read_marts(store: Store) -> tuple[list[Mart], set[str]]:
    """Return the tables of the warehouse, and the ids of its runs."""
    with store.open_reader() as reader:
        runs = reader.rows(Query("select run_id from runs"))
        marts = [Mart(*row.values()) for row in reader.rows(Query(MARTS))]
        return marts, {row["run_id"] for row in runs}


async def _file_chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


async def _cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the work; cancel it if the client disconnects."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait([task], timeout=CHECK_SECONDS))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return await task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
