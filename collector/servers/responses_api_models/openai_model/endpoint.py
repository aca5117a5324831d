"""Send a request to the endpoint until it answers, and say what went wrong if it does not."""

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
    GymClient,
    LostError,
    NotSentError,
    Reply,
    TooSlowError,
)
from collector.jsonl import dump, parse_object
from collector.retries import pause, retry_after
from collector.secrets import MARK, Redactor
from collector.servers.responses_api_models.base import ModelError, Row
from collector.servers.responses_api_models.openai_model.settings import OpenAISettings

READ_CHARACTERS = 16_000
MESSAGE_CHARACTERS = 4000
# shorter keys are words like `x`, which would spoil every message
SHORTEST_KEY = 4


@dataclass(frozen=True, slots=True)
class Refusal:
    """An attempt without a usable answer."""

    status: int
    """The status the caller gets if this was the last attempt."""
    message: str
    is_passing: bool = False
    """Whether trying again may help."""
    wait: float | None = None
    """How long the endpoint asks to wait."""


class Endpoint:
    """An OpenAI-compatible endpoint, with its key."""

    def __init__(self, settings: OpenAISettings) -> None:
        """Get everything ready; nothing is sent yet."""
        self._settings = settings
        self._url = httpx.URL(settings.openai_base_url)
        self._headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else None
        self._redactor = Redactor([settings.key, self._url.password])
        self._client = GymClient()

    async def close(self) -> None:
        """Close all connections."""
        await self._client.__aexit__(None, None, None)

    async def post(self, path: str, body: Row) -> Row:
        """Return the endpoint's answer, or raise ModelError once trying again is useless."""
        content = dump(body)
        retries = 0
        while True:
            outcome = await self._attempt(path, content)
            if not isinstance(outcome, Refusal):
                return outcome
            if not outcome.is_passing or retries >= self._settings.max_retries:
                times = f" ({retries + 1} attempts)" if retries else ""
                raise ModelError(outcome.status, f"{path}{times}: {outcome.message}")
            retries += 1
            await asyncio.sleep(self._pause(outcome, retries))

    async def _attempt(self, path: str, content: bytes) -> Row | Refusal:
        url = self._url.copy_with(path=self._url.path.rstrip("/") + path)
        timeout = self._settings.request_timeout
        try:
            reply = await self._client.post(url, content, timeout=timeout, headers=self._headers)
        except TooSlowError as error:
            return Refusal(HTTPStatus.GATEWAY_TIMEOUT, str(error))
        except (NotSentError, LostError) as error:
            return Refusal(HTTPStatus.BAD_GATEWAY, str(error), is_passing=True)
        except ClientError as error:
            return Refusal(HTTPStatus.BAD_GATEWAY, str(error))
        return _judged(reply)

    def _pause(self, refusal: Refusal, retries: int) -> float:
        if refusal.wait:
            # never longer than an answer may take, and not all waiters at the same moment
            asked = refusal.wait * random.uniform(1.0, 1.1)  # noqa: S311 - no secret
            return min(asked, self._settings.request_timeout)
        return pause(retries)

    def clean(self, message: str) -> str:
        """Return a message without the key, and not too long to be passed on."""
        text = self._redactor.text(message[:READ_CHARACTERS])
        # the redactor leaves short secrets alone, but this one is known to be one
        if len(self._settings.key) >= SHORTEST_KEY:
            text = text.replace(self._settings.key, MARK)
        return text[:MESSAGE_CHARACTERS]


def _judged(reply: Reply) -> Row | Refusal:
    if reply.status // 100 == 2:
        try:
            return parse_object(reply.body)
        except ValueError as error:
            return Refusal(HTTPStatus.BAD_GATEWAY, f"{error}: {_text(reply.body)}")
    is_limit = reply.status == HTTPStatus.TOO_MANY_REQUESTS
    is_broken = reply.status // 100 == 5 and reply.status != HTTPStatus.NOT_IMPLEMENTED
    return Refusal(
        # a redirection means nothing to the caller
        reply.status if reply.status >= 400 else HTTPStatus.BAD_GATEWAY,
        f"HTTP {reply.status}: {_text(reply.body)}",
        is_passing=is_limit or is_broken,
        wait=retry_after(reply.headers),
    )


def _text(body: bytes) -> str:
    """Return the endpoint's message, which most of them wrap in an object."""
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
