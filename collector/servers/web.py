"""What the servers have in common: JSON in, JSON out, errors that can be read."""

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

from collector.jsonl import dump, parse_object

Row = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]
MESSAGE_CHARACTERS = 4000
LOG = logging.getLogger(__name__)
LOGGED: set[str] = set()


class RefusedError(Exception):
    """A request that cannot be served: a status, and what is wrong with it."""

    def __init__(self, status: int, detail: Any) -> None:
        """Keep what the caller gets."""
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
    """Build a server: POST and GET routes by path, and `GET /` for liveness."""

    async def alive(_: Request) -> Response:
        return answer({"name": name, "status": "ok"})

    return Starlette(
        routes=[
            Route("/", alive, methods=["GET"]),
            *(
                Route(path, guarded(getter), methods=["GET"])
                for path, getter in (getters or {}).items()
            ),
            *(
                Route(path, guarded(endpoint), methods=["POST"])
                for path, endpoint in routes.items()
            ),
        ],
        exception_handlers={HTTPException: _not_served},
        lifespan=lifespan,
    )


async def body_of(request: Request) -> Row:
    """Return the request's JSON object, or refuse it as FastAPI would."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(422, [_detail("Content-Type must be application/json")])
    try:
        return parse_object(await request.body())
    except ValueError as error:
        raise RefusedError(422, [_detail(str(error))]) from error


def answer(
    content: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Answer with JSON."""
    return Response(
        dump(content), status_code=status, headers=headers, media_type="application/json"
    )


def _detail(message: str) -> Row:
    return {"type": "value_error", "loc": ["body"], "msg": message}


def guarded(endpoint: Endpoint) -> Endpoint:
    """Answer whatever goes wrong; what nobody foresaw is logged too, for who wrote the code."""

    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RefusedError as error:
            return _refused(error)
        except asyncio.CancelledError:
            return answer("the server is stopping", status=503)
        except Exception as error:  # noqa: BLE001 - whatever an environment does
            _log_once(request.url.path)
            return answer(f"{type(error).__name__}: {error}"[:MESSAGE_CHARACTERS], status=500)

    return call


def _log_once(path: str) -> None:
    """Log where it broke, but not a thousand times: a broken environment breaks every rollout."""
    text = traceback.format_exc()
    if text not in LOGGED:
        LOGGED.add(text)
        LOG.error("%s failed (told once)\n%s", path, text)


def _refused(error: RefusedError) -> Response:
    if error.status >= 500:  # as NeMo Gym: a JSON string
        return answer(str(error.detail), status=error.status)
    return answer({"detail": error.detail}, status=error.status)


async def _not_served(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer({"detail": error.detail}, status=error.status_code)
