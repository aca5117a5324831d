"""A model behind an OpenAI-compatible endpoint: Responses API or Chat Completions."""

from __future__ import annotations

import logging
from http import HTTPStatus

from collector.servers.responses_api_models.base import LanguageModel, ModelError, Row
from collector.servers.responses_api_models.openai_model.answers import (
    checked_response,
    response_from_completion,
)
from collector.servers.responses_api_models.openai_model.endpoint import OpenAIEndpoint
from collector.servers.responses_api_models.openai_model.request_bodies import (
    chat_request,
    responses_request,
)
from collector.servers.responses_api_models.openai_model.settings import (
    Api,
    OpenAISettings,
    parse_settings,
)

LOG = logging.getLogger("spotter")
__all__ = ["OpenAIModel", "OpenAISettings"]
# the status codes of an endpoint that does not offer a path
NOT_OFFERED = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


class OpenAIModel(LanguageModel):
    """A model that forwards every request to an endpoint, in the API that the endpoint offers."""

    def __init__(self, settings: Row) -> None:
        """Check the settings; raise ValueError if one is wrong."""
        super().__init__(settings)
        checked = parse_settings(settings)
        if "openai_api_key" in settings and not checked.key:
            LOG.warning(
                "warning: openai_api_key is empty, so requests to the endpoint have no key\n"
                "  what to do: if the key comes from an environment variable, set the variable"
            )
        self._model = checked.openai_model
        self._api: Api = checked.api
        self._endpoint = OpenAIEndpoint(checked)

    async def respond(self, request: Row) -> Row:
        """Return the endpoint's response to a Responses API request, or raise ModelError."""
        if request.get("stream"):
            raise ModelError(HTTPStatus.BAD_REQUEST, "streaming is not supported")
        try:
            return await self._forward({**request, "model": self._model})
        except ModelError as error:
            status = error.status if error.status < 600 else HTTPStatus.BAD_GATEWAY
            clean = ModelError(status, self._endpoint.clean(str(error)))
        except (TypeError, OverflowError, RecursionError, AttributeError) as error:
            clean = ModelError(
                HTTPStatus.BAD_GATEWAY, f"the request or the answer cannot be translated: {error}"
            )
        raise clean

    async def close(self) -> None:
        """Close all connections."""
        await self._endpoint.close()

    async def _forward(self, request: Row) -> Row:
        if self._api == "responses":
            return await self._post_to_responses(request)
        if self._api == "chat_completions":
            return await self._post_to_chat(request)
        try:
            response = await self._post_to_responses(request)
        except ModelError as error:
            if error.status not in NOT_OFFERED:
                raise
        else:
            self._remember("responses")
            return response
        response = await self._post_to_chat(request)
        self._remember("chat_completions")
        return response

    def _remember(self, api: Api) -> None:
        """Use the API that worked from now on; a 404 alone may also mean an unknown model."""
        if self._api == "auto":
            self._api = api

    async def _post_to_responses(self, request: Row) -> Row:
        return checked_response(await self._endpoint.post("/responses", responses_request(request)))

    async def _post_to_chat(self, request: Row) -> Row:
        answer = await self._endpoint.post("/chat/completions", chat_request(request))
        return response_from_completion(answer, request)
