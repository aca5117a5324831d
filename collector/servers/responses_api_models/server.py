"""Serve a model: `POST /v1/responses`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.responses_api_models.base import Model, ModelError, Row
from collector.servers.web import RefusedError, answer, body_of, make_app


def model_app(name: str, model: Model) -> Starlette:
    """Build the server of a model."""

    async def respond(request: Request) -> Response:
        body = await body_of(request)
        try:
            return answer(await _while_connected(request, model.respond(body)))
        except ModelError as error:
            raise RefusedError(error.status, str(error)) from error

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await model.close()

    return make_app(name, {"/v1/responses": respond}, lifespan=lifespan)


async def _while_connected(request: Request, work: Coroutine[Any, Any, Row]) -> Row:
    """Do the work for as long as somebody waits for it."""
    working = asyncio.create_task(work)
    # the body was read: what comes next is that the client is gone
    leaving = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RefusedError(503, "the client is gone")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
