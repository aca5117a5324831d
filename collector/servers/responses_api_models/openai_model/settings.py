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
    model_validator,
)

from collector.servers.responses_api_models.base import Row

Api = Literal["auto", "responses", "chat_completions"]


def _check_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL()
    is_callable = url.scheme in ("http", "https") and url.host and (url.port or 1) < 1 << 16
    if not is_callable or "${" in text or not _is_host_name(url.host):
        raise ValueError("not a valid URL; write it like http://127.0.0.1:8000/v1")
    if not _is_login(url):
        raise ValueError("the login in the URL has characters that an HTTP header cannot hold")
    return text


def _is_host_name(host: str) -> bool:
    """Tell whether a resolver would accept a host name."""
    try:
        return bool(host.encode("idna")) and (
            "%" not in host or ":" in host
        )  # httpx writes a space as %20
    except UnicodeError:
        return False


def _is_login(url: httpx.URL) -> bool:
    """Tell whether the login of a URL can be sent; a colon would end the user name."""
    login = url.username + url.password
    try:
        login.encode("latin-1")
    except UnicodeError:
        return False
    return ":" not in url.username and all(map(str.isprintable, login))


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

    @model_validator(mode="after")
    def _check_one_login(self) -> OpenAISettings:
        if self.key and httpx.URL(self.openai_base_url).userinfo:
            raise ValueError(
                "openai_base_url has a login and openai_api_key is set, but a request can carry"
                " only one of them; remove one"
            )
        return self

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
            ": ".join([*map(str, problem["loc"][:1]), problem["msg"].removeprefix("Value error, ")])
            for problem in error.errors(include_input=False)
        ]
    raise ValueError("; ".join(problems))
