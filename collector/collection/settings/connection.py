"""The settings that say where the servers are, and how long a request may take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PositiveFloat
from typer import Option

from collector.collection.head_options import (
    DEFAULT_HEAD_HOST,
    DEFAULT_HEAD_PORT,
    HeadHost,
    HeadPort,
)
from collector.overrides import OverrideName


def _valid_host(text: str) -> str:
    import httpx  # it takes longer to import than the help of a command to print

    try:
        httpx.URL(scheme="http", host=text)
    except httpx.InvalidURL:
        raise ValueError("not a host name or address") from None
    return text


def _parse_urls(urls: Any) -> Any:
    """Return a map of the texts `NAME=URL`; the error quotes none, it may hold a password."""
    if not isinstance(urls, list):
        return urls
    pairs = [text.partition("=") for text in urls]
    if not all(name and url for name, _, url in pairs):
        raise ValueError("write --agent-url like my_agent=http://127.0.0.1:8000")
    return {name: url for name, _, url in pairs}


class HeadAddress(BaseModel):
    """Where the head server is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head_host: Annotated[HeadHost, AfterValidator(_valid_host)] = DEFAULT_HEAD_HOST
    head_port: Annotated[HeadPort, Field(ge=1, le=65535)] = DEFAULT_HEAD_PORT


class Waiting(HeadAddress):
    """Where the head server is, and how long a request may take."""

    request_timeout: Annotated[
        PositiveFloat, Option(help="Seconds to wait for the answer to a request.")
    ] = 3600.0


class Connection(Waiting):
    """How the servers are found, and how long a request may take."""

    agent_urls: Annotated[
        dict[str, str],
        BeforeValidator(_parse_urls),
        Option(
            "--agent-url",
            metavar="NAME=URL",
            help="The address of an agent, instead of asking the head server. May be repeated.",
        ),
        OverrideName("agent_url"),
    ] = {}
