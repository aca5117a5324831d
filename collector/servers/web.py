"""The web layer of all servers: JSON requests, JSON responses, readable errors."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.failure_causes import Causes, cause_of
from collector.jsonl import dump, parse_object

Row = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]
MESSAGE_CHARACTERS = 4000
LOG = logging.getLogger(__name__)
LOGGED: set[str] = set()
CAUSES = Causes()


class RequestRefusedError(Exception):
    """The server refuses a request, with an HTTP status and the reason."""

    def __init__(self, status: int, detail: Any) -> None:
        """Keep the status and the detail for the response."""
        super().__init__(str(detail))
        self.status = status
        self.detail = detail


def make_app(
    name: str,
    routes: Mapping[str, Endpoint],
    *,
    getters: Mapping[str, Endpoint] | None = None,
    lifespan: Lifespan | None = None,
) -> Starlette:
    """Build a server from POST routes and GET routes; `GET /` says that it is alive."""

    async def liveness(_: Request) -> Response:
        return json_response({"name": name, "status": "ok"})

    return Starlette(
        routes=[
            Route("/", liveness, methods=["GET"]),
            *(
                Route(path, guard_endpoint(getter), methods=["GET"])
                for path, getter in (getters or {}).items()
            ),
            *(
                Route(path, guard_endpoint(endpoint), methods=["POST"])
                for path, endpoint in routes.items()
            ),
        ],
        exception_handlers={HTTPException: _http_error_response},
        lifespan=lifespan,
    )


async def read_body(request: Request) -> Row:
    """Return the request's JSON object, or refuse the request with status 422 as FastAPI does."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestRefusedError(422, [_error_detail("Content-Type must be application/json")])
    try:
        return parse_object(await request.body())
    except ValueError as error:
        raise RequestRefusedError(422, [_error_detail(str(error))]) from error


def json_response(
    content: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a response with JSON content."""
    return Response(
        dump(content), status_code=status, headers=headers, media_type="application/json"
    )


def _error_detail(message: str) -> Row:
    return {"type": "value_error", "loc": ["body"], "msg": message}


def guard_endpoint(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint that answers every exception with JSON, and logs the unexpected ones."""

    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RequestRefusedError as error:
            _tell_cause(request, error)
            return _refusal_response(error)
        except asyncio.CancelledError:
            return json_response("the server is stopping", status=503)
        except Exception as error:  # noqa: BLE001 - environments run any code
            _log_once(request.url.path)
            return json_response(
                f"{type(error).__name__}: {error}"[:MESSAGE_CHARACTERS], status=500
            )

    return call


def _tell_cause(request: Request, error: RequestRefusedError) -> None:
    """Log why a rollout fails. Wrong arguments for a tool do not fail a rollout."""
    if error.status < 500 and request.url.path != "/run":
        return
    cause = cause_of(error.detail)
    if CAUSES.is_new(cause):
        LOG.warning("%s answered %d: %s", request.url.path, error.status, cause)


def _log_once(path: str) -> None:
    """Log the current exception once: a broken environment fails in every rollout."""
    text = traceback.format_exc()
    if text not in LOGGED:
        LOGGED.add(text)
        LOG.error("%s failed (logged once)\n%s", path, text)


def _refusal_response(error: RequestRefusedError) -> Response:
    if error.status >= 500:  # a JSON string, as NeMo Gym answers
        return json_response(str(error.detail), status=error.status)
    return json_response({"detail": error.detail}, status=error.status)


async def _http_error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return json_response({"detail": error.detail}, status=error.status_code)
