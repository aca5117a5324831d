"""Find the agent servers: given by URL, or asked of the head server."""

from __future__ import annotations

import asyncio
import base64
import difflib
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from collector import values
from collector.collection.secrets import Redactor, secret_texts
from collector.collection.settings import Connection
from collector.errors import ServerError, SpotterError, UsageError
from collector.gym_client import ClientError, GymClient, NotSentError

HEAD_SECONDS = 10.0
REACH_PAUSE = 0.25
AGENTS = "responses_api_agents"
ANY_HOST = ("0.0.0.0", "::", "")  # noqa: S104 - what a server listens on, not us


@dataclass(frozen=True)
class Servers:
    """Where the agents are, and what must not be written anywhere."""

    urls: dict[str, httpx.URL]
    redactor: Redactor
    find_again: Callable[[str], Awaitable[httpx.URL | None]] | None = None
    """Ask the head server once more where an agent is, if it was asked at all."""


async def find_servers(
    names: Iterable[str] | None, connection: Connection, client: GymClient
) -> Servers:
    """Return the address of every named agent, or say which are unknown.

    Without names, those that are given, or else all that the head server knows.
    """
    urls = {name: _given_url(name, url) for name, url in connection.agent_urls.items()}
    secrets = [text for url in urls.values() for text in _passwords(url)]
    wanted = sorted(set(urls if names is None else names))
    if all(name in urls for name in wanted) and (urls or names is not None):
        return Servers({name: urls[name] for name in wanted}, Redactor(secrets))
    config = await _head_config(connection, client)
    secrets += secret_texts(config)
    known = {
        name: server[AGENTS]
        for name, server in config.items()
        if isinstance(name, str) and isinstance(server, dict) and AGENTS in server
    }
    located = {name: _agent_url(server, connection) for name, server in known.items()}
    found = {name: url for name, url in located.items() if url} | urls
    for name in wanted:
        if name not in known and name not in urls:
            raise unknown_agent(name, [*known, *urls])
        if name not in found:
            raise ServerError(
                f"the head server's config has no host and port for agent {name}\n"
                f"  what to do: give its address with --agent-url {name}=http://HOST:PORT"
            )

    async def find_again(name: str) -> httpx.URL | None:
        try:
            return (await find_servers([name], connection, client)).urls[name]
        except SpotterError:
            return None  # the head server is away as well

    chosen = {name: found[name] for name in wanted or found}
    return Servers(chosen, Redactor(secrets), find_again)


async def reach(servers: Servers, client: GymClient, *, patience: float) -> None:
    """Wait a moment for every server to be there; whatever it answers is fine."""
    until = time.monotonic() + patience
    for name, url in servers.urls.items():
        while True:
            try:
                await client.get(url, timeout=HEAD_SECONDS)
            except NotSentError as error:
                if time.monotonic() > until:
                    raise ServerError(
                        f"agent {name} cannot be reached at {shown(url)}:"
                        f" {servers.redactor.text(str(error))}"
                    ) from error
                await asyncio.sleep(REACH_PAUSE)
                continue
            except ClientError:
                pass  # it is there
            break


def shown(url: httpx.URL) -> str:
    """Return a URL without the password it may have."""
    return str(url.copy_with(username=None, password=None) if url.userinfo else url)


def _passwords(url: httpx.URL) -> list[str]:
    if not url.password:
        return []
    return [url.password, base64.b64encode(url.userinfo).decode()]


def _given_url(name: str, text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, TypeError) as error:
        raise UsageError(f"--agent-url {name}: not a URL") from error
    is_callable = url.scheme in ("http", "https") and url.host and (url.port or 1) < 1 << 16
    if not is_callable or url.query or url.fragment:
        raise UsageError(f"--agent-url {name}: write it like {name}=http://127.0.0.1:8000")
    return url


async def _head_config(connection: Connection, client: GymClient) -> dict[str, Any]:
    url = httpx.URL(
        scheme="http",
        host=connection.head_host,
        port=connection.head_port,
        path="/global_config_dict_yaml",
    )
    head = url.copy_with(path="/")
    advice = (
        "\n  what to do: start the servers with spotter run, say where the head server is with"
        " --head-port, or name agents with --agent-url NAME=http://…"
    )
    try:
        reply = await client.get(url, timeout=HEAD_SECONDS)
    except ClientError as error:
        raise ServerError(f"no head server at {head}: {error}{advice}") from error
    if reply.status != httpx.codes.OK:
        raise ServerError(f"the head server answered {reply.status} at {url}{advice}")
    # the config holds API keys in clear, so that no part of it is ever quoted
    try:
        text = orjson.loads(reply.body)
        config = values.parse(text) if isinstance(text, str) else None
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise ServerError(f"{url} does not answer with a JSON string that holds a YAML map{advice}")
    return config


def _agent_url(implementations: Any, connection: Connection) -> httpx.URL | None:
    if not isinstance(implementations, dict) or len(implementations) != 1:
        return None
    (settings,) = implementations.values()
    host = settings.get("host") if isinstance(settings, dict) else None
    port = settings.get("port") if isinstance(settings, dict) else None
    digits = str(port)
    if not isinstance(host, str) or "${" in host or not (digits.isascii() and digits.isdigit()):
        return None
    # what a server listens on everywhere is found where the head server is
    found = connection.head_host if host in ANY_HOST else host
    try:
        return httpx.URL(scheme="http", host=found, port=int(digits))
    except httpx.InvalidURL:
        return None


def unknown_agent(name: str, known: Iterable[str]) -> UsageError:
    """Say which agents there are, and which of them was probably meant."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    guess = f"; did you mean {close[0]}?" if close else ""
    return UsageError(f"unknown agent {name}{guess}\n  known agents: {', '.join(known) or 'none'}")
