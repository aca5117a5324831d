"""Serve a model: `POST /v1/responses`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.responses_api_models.base import Model, ModelError
from collector.servers.web import RefusedError, answer, body_of, make_app


def model_app(name: str, model: Model) -> Starlette:
    """Build the server of a model."""

    async def respond(request: Request) -> Response:
        body = await body_of(request)
        try:
            return answer(await model.respond(body))
        except ModelError as error:
            raise RefusedError(error.status, str(error)) from error

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await model.close()

    return make_app(name, {"/v1/responses": respond}, lifespan=lifespan)
