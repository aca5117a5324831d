"""Serve a model: `POST /v1/responses`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.responses_api_models.base import LanguageModel, ModelError, Row
from collector.servers.web import RequestRefusedError, json_response, make_app, read_body

# nobody reads this answer; other servers use the same status
CLIENT_CLOSED = 499


def model_app(name: str, model: LanguageModel) -> Starlette:
    """Build the server of a model; it closes the model when it stops."""

    async def respond(request: Request) -> Response:
        body = await read_body(request)
        try:
            return json_response(await _while_connected(request, model.respond(body)))
        except ModelError as error:
            raise RequestRefusedError(error.status, str(error)) from error

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await model.close()

    return make_app(name, {"/v1/responses": respond}, lifespan=lifespan)


async def _while_connected(request: Request, work: Coroutine[Any, Any, Row]) -> Row:
    """Return the result of the work; cancel it and raise if the client disconnects."""
    working = asyncio.create_task(work)
    # after the body, the next message says that the client disconnected
    disconnect = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([working, disconnect], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RequestRefusedError(CLIENT_CLOSED, "the client disconnected")
        return working.result()
    finally:
        working.cancel()
        disconnect.cancel()
