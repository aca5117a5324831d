"""A model behind any OpenAI-compatible endpoint, by Responses API or Chat Completions."""

from __future__ import annotations

from http import HTTPStatus

from collector.servers.responses_api_models.base import Model, ModelError, Row
from collector.servers.responses_api_models.openai_model.answers import (
    checked_response,
    response_of,
)
from collector.servers.responses_api_models.openai_model.endpoint import Endpoint
from collector.servers.responses_api_models.openai_model.settings import (
    Api,
    OpenAISettings,
    checked_settings,
)
from collector.servers.responses_api_models.openai_model.wire import chat_request, responses_request

__all__ = ["OpenAIModel", "OpenAISettings"]
# what an endpoint answers that has no such path
NOT_OFFERED = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


class OpenAIModel(Model):
    """Forwards every request to an endpoint, in the API that it speaks."""

    def __init__(self, settings: Row) -> None:
        """Check the settings; raise ValueError if one is wrong."""
        super().__init__(settings)
        checked = checked_settings(settings)
        self._model = checked.openai_model
        self._api: Api = checked.api
        self._endpoint = Endpoint(checked)

    async def respond(self, request: Row) -> Row:
        """Answer a Responses API request, or raise ModelError."""
        if request.get("stream"):
            raise ModelError(HTTPStatus.BAD_REQUEST, "streaming is not offered")
        try:
            return await self._forward({**request, "model": self._model})
        except ModelError as error:
            status = error.status if error.status < 600 else HTTPStatus.BAD_GATEWAY
            clean = ModelError(status, self._endpoint.clean(str(error)))
        except (TypeError, OverflowError, RecursionError, AttributeError) as error:
            clean = ModelError(HTTPStatus.BAD_GATEWAY, f"this cannot be translated: {error}")
        raise clean

    async def close(self) -> None:
        """Let go of connections."""
        await self._endpoint.close()

    async def _forward(self, request: Row) -> Row:
        if self._api == "responses":
            return await self._by_responses(request)
        if self._api == "chat_completions":
            return await self._by_chat(request)
        try:
            response = await self._by_responses(request)
        except ModelError as error:
            if error.status not in NOT_OFFERED:
                raise
        else:
            self._remember("responses")
            return response
        response = await self._by_chat(request)
        self._remember("chat_completions")
        return response

    def _remember(self, api: Api) -> None:
        """Settle on what worked: a 404 alone may also mean an unknown model."""
        if self._api == "auto":
            self._api = api

    async def _by_responses(self, request: Row) -> Row:
        return checked_response(await self._endpoint.post("/responses", responses_request(request)))

    async def _by_chat(self, request: Row) -> Row:
        answer = await self._endpoint.post("/chat/completions", chat_request(request))
        return response_of(answer, request)
