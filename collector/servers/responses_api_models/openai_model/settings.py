"""The settings of an OpenAI-compatible endpoint, checked where they come in."""

from __future__ import annotations

from typing import Annotated, Literal

import httpx
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    SecretStr,
    ValidationError,
)

from collector.servers.responses_api_models.base import Row

Api = Literal["auto", "responses", "chat_completions"]


def _is_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or "${" in text:
        raise ValueError("not a URL; write it like http://127.0.0.1:8000/v1")
    return text


def _is_header(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if not text.isascii() or not text.isprintable():
        raise ValueError("has characters that cannot be sent")
    return key


class OpenAISettings(BaseModel):
    """Where the model is, and how long to insist."""

    # a config also carries host, port and whatever else the servers share
    model_config = ConfigDict(frozen=True, extra="allow")

    openai_base_url: Annotated[str, AfterValidator(_is_url)]
    openai_api_key: Annotated[SecretStr, AfterValidator(_is_header)] | None = None
    openai_model: Annotated[str, Field(min_length=1)]
    api: Api = "auto"
    request_timeout: Annotated[PositiveFloat, Field(allow_inf_nan=False)] = 3600.0
    max_retries: NonNegativeInt = 5

    @property
    def key(self) -> str:
        """Return the API key as text, empty if there is none."""
        return self.openai_api_key.get_secret_value() if self.openai_api_key else ""


def checked_settings(given: Row) -> OpenAISettings:
    """Build the settings, or raise ValueError with what is wrong, quoting no value."""
    try:
        return OpenAISettings.model_validate(given)
    except ValidationError as error:
        problems = [
            f"{problem['loc'][0]}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_input=False)
        ]
    raise ValueError("; ".join(problems))
