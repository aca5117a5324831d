"""An HTTP client for NeMo Gym style servers: no cookies, no proxies.

Its errors say whether the server may have received the request.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

CONNECT_SECONDS = 10.0
# servers close idle connections after 30 s: a request sent at that moment would be lost
IDLE_SECONDS = 15.0
KEEPALIVE_SECONDS = 60
# a server that never ends its answer must not fill the memory
LARGEST_REPLY = 512 << 20
# given the encoding, httpx does not detect it again in every request
HEADERS = httpx.Headers(
    {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
    },
    encoding="ascii",
)


class ClientError(Exception):
    """A request got no usable answer; the message says why."""


class NotSentError(ClientError):
    """The client did not reach the server, so the server did nothing."""


class ConnectionLostError(ClientError):
    """The connection broke after the request was sent: the server may still be working on it."""


class GarbledError(ClientError):
    """The answer is not valid HTTP."""


class TooLargeError(GarbledError):
    """The answer is larger than LARGEST_REPLY."""


class TooSlowError(ClientError):
    """The answer did not arrive within the timeout."""


@dataclass(frozen=True)
class Reply:
    """The answer of a server: status, headers and body."""

    status: int
    headers: httpx.Headers
    body: bytes


class GymClient:
    """A client for many requests at once.

    It calls the transport directly: `httpx.AsyncClient` stores cookies and sends them to other
    ports too, and its layers add half as much time again to each request.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Use the given transport, or aiohttp; tests pass their own."""
        self._transport = transport or AiohttpTransport(client=_client_session, trust_env=False)

    async def __aenter__(self) -> GymClient:
        """Return the client; connections open on demand."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def get(self, url: httpx.URL, *, timeout: float) -> Reply:
        """Send a GET request and return the reply; raise ClientError without a usable one."""
        return await self._send(httpx.Request("GET", url, headers=HEADERS), timeout)

    async def post(
        self,
        url: httpx.URL,
        content: bytes | AsyncIterable[bytes],
        *,
        timeout: float,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send JSON and return the reply; raise ClientError without a usable one."""
        all_headers = HEADERS if headers is None else _add_headers(headers)
        return await self._send(
            httpx.Request("POST", url, headers=all_headers, content=content), timeout
        )

    async def _send(self, request: httpx.Request, timeout: float) -> Reply:
        request.extensions["timeout"] = {"connect": CONNECT_SECONDS}
        try:
            async with asyncio.timeout(timeout):
                response = await self._transport.handle_async_request(request)
                try:
                    body = await _read_body(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise _timeout_error(error, timeout) from error
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _classify_error(error) from error
        except UnicodeError as error:
            raise NotSentError("the host name cannot be resolved") from error
        except (ValueError, aiohttp.http_exceptions.HttpProcessingError) as error:
            raise GarbledError(_reason(error)) from error
        return Reply(response.status_code, response.headers, body)


def _add_headers(headers: Mapping[str, str]) -> httpx.Headers:
    merged = HEADERS.copy()
    merged.update(headers)
    return merged


async def _read_body(response: httpx.Response) -> bytes:
    is_encoded = any(name.lower() == b"content-encoding" for name, _ in response.headers.raw)
    assert isinstance(response.stream, httpx.AsyncByteStream)
    # bypass httpx's decoders where possible: they cost as much as sending the request
    stream = response.aiter_bytes() if is_encoded else response.stream
    chunks: list[bytes] = []
    size = 0
    async for chunk in stream:
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_REPLY:
            raise TooLargeError(f"the answer is larger than {LARGEST_REPLY >> 20} MB")
    return b"".join(chunks)


def _client_session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=0, keepalive_timeout=IDLE_SECONDS, socket_factory=_keepalive_socket
    )
    return aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
    )


def _keepalive_socket(address: Any) -> socket.socket:
    """Open a socket that detects a vanished peer: rollouts may take an hour."""
    family, kind, protocol, _, _ = address
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, option):  # some platforms lack these options
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), KEEPALIVE_SECONDS)
    return opened


def _timeout_error(error: TimeoutError, timeout: float) -> ClientError:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return NotSentError(f"no connection within {CONNECT_SECONDS:g} s")
    return TooSlowError(f"no answer within {timeout:g} s")


def _classify_error(error: Exception) -> ClientError:
    # the transport raises the same error for refused and dropped connections: look at the cause
    cause = error.__cause__ if isinstance(error, httpx.HTTPError) else error
    if isinstance(cause, (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError)):
        return NotSentError(_reason(cause))
    if isinstance(error, (httpx.ConnectError, httpx.UnsupportedProtocol)) and not isinstance(
        cause, aiohttp.ClientOSError
    ):
        return NotSentError(_reason(error))
    if isinstance(cause, aiohttp.ClientResponseError):
        return GarbledError(_reason(cause))
    if isinstance(error, (httpx.DecodingError, httpx.RemoteProtocolError)):
        return GarbledError(_reason(error))
    return ConnectionLostError(_reason(cause or error))


def _reason(error: BaseException) -> str:
    # the original texts quote the URL, which may hold a password
    if isinstance(error, aiohttp.ClientResponseError):
        return " ".join(error.message.split())
    if isinstance(error, (aiohttp.InvalidURL, httpx.UnsupportedProtocol)):
        return "not a valid URL"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return os.strerror(number) if number and number > 0 else str(error.os_error.strerror)
    return str(error) or type(error).__name__


def url_without_password(url: httpx.URL) -> str:
    """Return a URL as text, without user name and password."""
    return str(url.copy_with(username=None, password=None) if url.userinfo else url)
