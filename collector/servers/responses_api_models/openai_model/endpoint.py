"""Send requests to an OpenAI-compatible endpoint, with retries."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx

from collector.gym_client import (
    ClientError,
    ConnectionLostError,
    GymClient,
    NotSentError,
    Reply,
    TooSlowError,
)
from collector.jsonl import dump, parse_object
from collector.retries import retry_after, retry_delay
from collector.secrets import Redactor, url_secrets
from collector.servers.responses_api_models.base import ModelError, Row
from collector.servers.responses_api_models.openai_model.settings import OpenAISettings

READ_CHARACTERS = 16_000
MESSAGE_CHARACTERS = 4000
# messages are not data: here even a short key is redacted, but not a letter like `x`
SHORTEST_KEY = 4


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt that got no usable answer."""

    status: int
    """The HTTP status for the caller if this was the last attempt."""
    message: str
    is_temporary: bool = False
    """Whether a retry may help."""
    wait: float | None = None
    """The seconds that the endpoint asks to wait."""


class OpenAIEndpoint:
    """An OpenAI-compatible endpoint, with its key."""

    def __init__(self, settings: OpenAISettings) -> None:
        """Prepare the client without sending a request."""
        self._settings = settings
        self._url = httpx.URL(settings.openai_base_url)
        self._headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else None
        self._redactor = Redactor(
            [settings.key, *url_secrets(settings.openai_base_url)], shortest=SHORTEST_KEY
        )
        self._client = GymClient()

    async def close(self) -> None:
        """Close all connections."""
        await self._client.__aexit__(None, None, None)

    async def post(self, path: str, body: Row) -> Row:
        """Return the endpoint's answer; raise ModelError if retries are used up or cannot help."""
        content = dump(body)
        retries = 0
        while True:
            outcome = await self._attempt(path, content)
            if not isinstance(outcome, FailedAttempt):
                return outcome
            if not outcome.is_temporary or retries >= self._settings.max_retries:
                times = f" ({retries + 1} attempts)" if retries else ""
                raise ModelError(outcome.status, f"{path}{times}: {outcome.message}")
            retries += 1
            await asyncio.sleep(self._delay(outcome, retries))

    async def _attempt(self, path: str, content: bytes) -> Row | FailedAttempt:
        url = self._url.copy_with(path=self._url.path.rstrip("/") + path)
        timeout = self._settings.request_timeout
        try:
            reply = await self._client.post(url, content, timeout=timeout, headers=self._headers)
        except TooSlowError as error:
            return FailedAttempt(HTTPStatus.GATEWAY_TIMEOUT, str(error))
        except (NotSentError, ConnectionLostError) as error:
            return FailedAttempt(HTTPStatus.BAD_GATEWAY, str(error), is_temporary=True)
        except ClientError as error:
            return FailedAttempt(HTTPStatus.BAD_GATEWAY, str(error))
        return _parse_reply(reply)

    def _delay(self, attempt: FailedAttempt, retries: int) -> float:
        if attempt.wait:
            # at most the timeout of a request, and not all waiting requests at the same moment
            wait = attempt.wait * random.uniform(1.0, 1.1)  # noqa: S311 - no secret
            return min(wait, self._settings.request_timeout)
        return retry_delay(retries)

    def clean(self, message: str) -> str:
        """Return a message without the key, and short enough to pass on."""
        return self._redactor.redact_text(message[:READ_CHARACTERS])[:MESSAGE_CHARACTERS]


def _parse_reply(reply: Reply) -> Row | FailedAttempt:
    if reply.status // 100 == 2:
        try:
            return parse_object(reply.body)
        except ValueError as error:
            return FailedAttempt(HTTPStatus.BAD_GATEWAY, f"{error}: {_text(reply.body)}")
    is_limit = reply.status == HTTPStatus.TOO_MANY_REQUESTS
    is_broken = reply.status // 100 == 5 and reply.status != HTTPStatus.NOT_IMPLEMENTED
    return FailedAttempt(
        # a redirect means nothing to the caller
        reply.status if reply.status >= 400 else HTTPStatus.BAD_GATEWAY,
        f"HTTP {reply.status}: {_text(reply.body)}",
        is_temporary=is_limit or is_broken,
        wait=retry_after(reply.headers),
    )


def _text(body: bytes) -> str:
    """Return the endpoint's error message, which most endpoints wrap in an object."""
    text = body[: 4 * READ_CHARACTERS].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        value = _inner(value, name)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _inner(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, dict) and value.get(name) else value
