"""Check the health of every server that the head server lists."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from collector.errors import ServerError, UsageError
from collector.gym_client import ClientError, GymClient, url_without_password
from collector.terminal.blocks import Styled, TextColumn, TextTable

Row = dict[str, Any]
CHECK_SECONDS = 10.0
COLUMNS = (
    TextColumn(overflow="wrap"),
    TextColumn(overflow="wrap"),
    TextColumn(width=10, align="right", style="quiet"),
    TextColumn(overflow="wrap"),
)


@dataclass(frozen=True)
class Health:
    """The result of a health check of one server."""

    name: str
    kind: str
    url: str
    is_healthy: bool
    latency_ms: float
    problem: str | None


async def check_servers(head_host: str, head_port: int) -> list[Health]:
    """Return the health of every server that the head server lists.

    Raise ServerError if no head server answers there.
    """
    try:
        head = httpx.URL(scheme="http", host=head_host, port=head_port)
    except (httpx.InvalidURL, UnicodeError):
        raise UsageError("--head-host: not a valid host name or address") from None
    async with GymClient() as client:
        try:
            reply = await client.get(
                head.copy_with(path="/server_instances"), timeout=CHECK_SECONDS
            )
        except ClientError as error:
            raise ServerError(
                f"no head server at {head}: {error}\n"
                "  what to do: start the servers with `spotter run`, or give the address of the"
                " head server with --head-host and --head-port"
            ) from error
        instances = _parse_instances(reply.status, reply.body, head)
        return list(await asyncio.gather(*(_check_server(row, client) for row in instances)))


def status_table(servers: list[Health]) -> TextTable:
    """Return a table with one row per server."""
    return TextTable(
        COLUMNS,
        [
            (
                health.name,
                health.url,
                f"{health.latency_ms:.1f} ms",
                Styled("healthy", "good")
                if health.is_healthy
                else Styled(f"DOWN: {health.problem}", "bad"),
            )
            for health in servers
        ],
    )


def _parse_instances(status: int, body: bytes, head: httpx.URL) -> list[Row]:
    try:
        rows = orjson.loads(body) if status == httpx.codes.OK else None
    except orjson.JSONDecodeError:
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ServerError(
            f"{head} did not return a list of servers (HTTP {status})\n"
            "  what to do: check --head-host and --head-port: is this the head server?"
        )
    return rows


async def _check_server(row: Row, client: GymClient) -> Health:
    text = str(row.get("url") or f"http://{row.get('host')}:{row.get('port')}")
    started = time.monotonic()
    problem: str | None
    try:
        url = httpx.URL(text)
        text = url_without_password(url)
        reply = await client.get(url, timeout=CHECK_SECONDS)
        problem = None if reply.status == httpx.codes.OK else f"HTTP {reply.status}"
    except httpx.InvalidURL:
        text, problem = "?", "the address is not a valid URL"
    except ClientError as error:
        problem = str(error)
    return Health(
        name=str(row.get("process_name") or row.get("name")),
        kind=str(row.get("server_type")),
        url=text,
        is_healthy=problem is None,
        latency_ms=round(1000 * (time.monotonic() - started), 1),
        problem=problem,
    )
