"""Find the agent servers: from given URLs, or by asking the head server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import httpx

from collector.collection.head_config import (
    AGENTS,
    ENVIRONMENTS,
    HEAD_SECONDS,
    HeadConfig,
    fetch_head_config,
)
from collector.collection.settings.connection import Connection
from collector.errors import ServerError, SpotterError, UsageError
from collector.gym_client import ClientError, GymClient, NotSentError, url_without_password
from collector.secrets import Redactor, secret_texts, url_secrets
from collector.suggestions import suggestion

REACH_PAUSE = 0.25


@dataclass
class Servers:
    """The addresses of the agents, and the redactor of their secrets."""

    urls: dict[str, httpx.URL]
    redactor: Redactor
    config: HeadConfig | None = None
    """The head server's config, if the head server was asked."""
    find_again: Callable[[Iterable[str]], Awaitable[Servers]] | None = None
    """Asks the head server once more, if it was asked before."""
    called: str = "agent"
    """What a message calls a server, before its name."""
    endpoint: str = "/run"
    """The path that rows are sent to."""

    async def look_again(self, names: Iterable[str]) -> None:
        """Update the addresses: a server that comes back may have another port."""
        if not self.find_again:
            return
        with contextlib.suppress(SpotterError):  # the head server may be down as well
            self.urls |= (await self.find_again(names)).urls


async def find_servers(
    names: Iterable[str] | None, connection: Connection, client: GymClient
) -> Servers:
    """Return the addresses of these agents and environment servers; raise if one is unknown.

    Without names, return the given addresses, or else all that the head server knows.
    """
    urls = {name: _parse_url(name, url) for name, url in connection.agent_urls.items()}
    secrets = [text for url in urls.values() for text in url_secrets(str(url))]
    wanted = sorted(set(urls if names is None else names))
    if all(name in urls for name in wanted) and (urls or names is not None):
        return Servers({name: urls[name] for name in wanted}, Redactor(secrets))
    config = await fetch_head_config(connection, client)
    secrets += secret_texts(config.content)
    known = config.names(AGENTS, ENVIRONMENTS)
    found = {name: url for name in known if (url := config.url(name))} | urls
    for name in wanted:
        if name not in known and name not in urls:
            raise unknown_agent(name, [*known, *urls])
        if name not in found:
            raise ServerError(
                f"the head server's config has no host and port for agent {name}\n"
                f"  what to do: give its address with --agent-url {name}=http://HOST:PORT"
            )
    chosen = {name: found[name] for name in wanted or found}

    async def find_again(names: Iterable[str]) -> Servers:
        return await find_servers(names, connection, client)

    return Servers(chosen, Redactor(secrets), config, find_again)


class AgentFinder:
    """Finds the agents of task sources and servers; asks the head server only when needed."""

    def __init__(self, connection: Connection) -> None:
        """Prepare without asking the head server."""
        self._connection = connection
        self._config: HeadConfig | None = None

    def of_source(self, source: str) -> str:
        """Return the agent that runs the rows of a task source; raise UsageError without one."""
        return self._head().of_source(source)

    def behind(self, server: str) -> str | None:
        """Return the one agent behind an environment server."""
        return self._head().behind(server)

    def _head(self) -> HeadConfig:
        if self._config is None:
            self._config = asyncio.run(self._fetch())
        return self._config

    async def _fetch(self) -> HeadConfig:
        async with GymClient() as client:
            return await fetch_head_config(self._connection, client)


async def reach(servers: Servers, client: GymClient, *, patience: float) -> None:
    """Wait until every server answers anything; raise ServerError after `patience` seconds."""
    until = time.monotonic() + patience
    for name, url in servers.urls.items():
        while True:
            try:
                await client.get(url, timeout=HEAD_SECONDS)
            except NotSentError as error:
                if time.monotonic() > until:
                    raise ServerError(
                        f"{servers.called} {name} cannot be reached at"
                        f" {url_without_password(url)}:"
                        f" {servers.redactor.redact_text(str(error))}"
                    ) from error
                await asyncio.sleep(REACH_PAUSE)
                continue
            except ClientError:
                pass  # it answered
            break


def _parse_url(name: str, text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, TypeError) as error:
        raise UsageError(f"--agent-url {name}: not a URL") from error
    is_callable = url.scheme in ("http", "https") and url.host and (url.port or 1) < 1 << 16
    if not is_callable or url.query or url.fragment:
        raise UsageError(f"--agent-url {name}: write it like {name}=http://127.0.0.1:8000")
    return url


def unknown_agent(name: str, known: Iterable[str]) -> UsageError:
    """Return an error that lists the known agents and the most similar name."""
    known = sorted(known)
    names = ", ".join(known) or "none"
    return UsageError(f"unknown agent {name}{suggestion(name, known)}\n  known agents: {names}")
