"""The settings of an OpenAI-compatible endpoint."""

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


def _check_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or "${" in text:
        raise ValueError("not a valid URL; write it like http://127.0.0.1:8000/v1")
    return text


def _check_header_value(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if not text.isascii() or not text.isprintable():
        raise ValueError("has characters that an HTTP header cannot hold")
    return key


class OpenAISettings(BaseModel):
    """The address of the model, its key, and the limits for requests and retries."""

    # a config also has host, port and other settings that all servers share
    model_config = ConfigDict(frozen=True, extra="allow")

    openai_base_url: Annotated[str, AfterValidator(_check_url)]
    openai_api_key: Annotated[SecretStr, AfterValidator(_check_header_value)] | None = None
    openai_model: Annotated[str, Field(min_length=1)]
    api: Api = "auto"
    request_timeout: Annotated[PositiveFloat, Field(allow_inf_nan=False)] = 3600.0
    max_retries: NonNegativeInt = 5

    @property
    def key(self) -> str:
        """Return the API key as text, empty without a key."""
        return self.openai_api_key.get_secret_value() if self.openai_api_key else ""


def parse_settings(settings: Row) -> OpenAISettings:
    """Return the settings as a model; raise ValueError with the problems, without any value."""
    try:
        return OpenAISettings.model_validate(settings)
    except ValidationError as error:
        problems = [
            f"{problem['loc'][0]}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_input=False)
        ]
    raise ValueError("; ".join(problems))
