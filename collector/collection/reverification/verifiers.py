"""The resources servers that verify: find them, ask whether they can, and identify their config."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import httpx
import orjson

from collector import yaml_values
from collector.collection.discovery import Servers
from collector.collection.head_config import HEAD_SECONDS, HeadConfig, fetch_head_config
from collector.collection.record import Verifier
from collector.collection.settings.connection import HeadAddress
from collector.errors import ServerError, UsageError
from collector.gym_client import ClientError, GymClient, url_without_password
from collector.secrets import Redactor, is_hidden_name, secret_texts

STATELESS = "stateless"
MODES = (STATELESS, "unsupported", "unknown")
ADDRESS = ("host", "port")
REFERENCE = re.compile(r"\$\{([^.}]+)[^}]*\}")


class Verifiers:
    """The resources servers behind the agents of a run."""

    def __init__(self, head: HeadAddress, client: GymClient) -> None:
        """Prepare without asking anyone."""
        self._head = head
        self._client = client

    async def find(self, agents: Iterable[str]) -> Servers:
        """Return, for each agent or environment server, the address of its resources server."""
        config = await fetch_head_config(self._head, self._client)
        return Servers(
            {agent: _url(config, agent) for agent in sorted(agents)},
            Redactor(secret_texts(config.content)),
            find_again=self.find,
            called="the resources server of",
            endpoint="/verify",
        )

    async def describe(self, agents: Iterable[str]) -> dict[str, Verifier]:
        """Return the mode and the config's hash of each resources server, by its name."""
        config = await fetch_head_config(self._head, self._client)
        names = sorted({config.verifier_of(agent) or "" for agent in agents} - {""})
        return {
            name: Verifier(
                reverify_mode=await self._mode(config, name),
                config_sha256=config_digest(config.content, name),
            )
            for name in names
        }

    async def _mode(self, config: HeadConfig, name: str) -> str:
        url = config.verifier_url(name)
        if url is None:
            return "unknown"
        try:
            reply = await self._client.get(
                url.copy_with(path="/reverify_mode"), timeout=HEAD_SECONDS
            )
        except ClientError as error:
            raise ServerError(
                f"resources server {name} cannot be reached at {url_without_password(url)}: {error}"
            ) from error
        try:
            mode = orjson.loads(reply.body) if reply.status == httpx.codes.OK else None
        except orjson.JSONDecodeError:
            mode = None
        return mode if mode in MODES else "unknown"


def refuse_unsafe(verifiers: dict[str, Verifier]) -> None:
    """Raise UsageError if a resources server does not say that it verifies without a session."""
    unsafe = [
        f"{name} ({one.reverify_mode})"
        for name, one in verifiers.items()
        if one.reverify_mode != STATELESS
    ]
    if unsafe:
        raise UsageError(
            "these resources servers do not say that they can verify without the session of the"
            f" rollout: {', '.join(unsafe)}\n"
            "  what to do: use --force if you know that their verdict depends only on the row and"
            " the response; the record then marks the run as unsafe"
        )


def config_digest(content: dict[str, Any], name: str) -> str:
    """Return a hash of a server's config and all that it refers to.

    Addresses change with every start, and secrets must not be guessed from a hash: the digest
    leaves both out.
    """
    parts: dict[str, Any] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in parts or current not in content or is_hidden_name(current):
            continue
        try:
            parts[current] = _identity(content[current])
        except RecursionError:
            raise ServerError(f"the head server's config of {current} contains itself") from None
        waiting += _references(parts[current])
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.sha256(text).hexdigest()


def _identity(value: Any) -> Any:
    if isinstance(value, list):
        return [_identity(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _identity(item)
        for key, item in value.items()
        if key not in ADDRESS and not (isinstance(key, str) and is_hidden_name(key))
    }


def _references(value: Any) -> list[str]:
    """Return the names in references like `{type: …, name: judge}` and `${judge_model}`."""
    items = [item for _, item in yaml_values.walk(value)]
    named = [
        item["name"]
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    ]
    return named + [
        found for item in items if isinstance(item, str) for found in REFERENCE.findall(item)
    ]


def _url(config: HeadConfig, agent: str) -> httpx.URL:
    name = config.verifier_of(agent)
    if name is None:
        raise UsageError(
            f"the head server's config names no resources server for {agent}\n"
            "  what to do: start the servers with a config in which the agent has a"
            " resources_server"
        )
    url = config.verifier_url(name)
    if url is None:
        raise ServerError(
            f"the head server's config has no host and port for the resources server {name}"
        )
    return url
