"""Talk HTTP to NeMo Gym style servers: no cookies, no proxies, errors that tell what was sent."""

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
# servers close idle connections after 30 s: a request sent into that moment would be lost
IDLE_SECONDS = 15.0
KEEPALIVE_SECONDS = 60
# a server that never ends its answer must not fill the memory
LARGEST_REPLY = 512 << 20
# with its encoding named, httpx does not look for it in every request
HEADERS = httpx.Headers(
    {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
    },
    encoding="ascii",
)


class ClientError(Exception):
    """A request without a usable answer; the text says why."""


class NotSentError(ClientError):
    """The server was not reached, so nothing happened there."""


class LostError(ClientError):
    """The connection broke after sending: the server may still be working on it."""


class GarbledError(ClientError):
    """The answer is not valid HTTP."""


class TooLargeError(GarbledError):
    """The answer does not end."""


class TooSlowError(ClientError):
    """The answer did not come in time."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: httpx.Headers
    body: bytes


class GymClient:
    """A client for many requests at once.

    It calls the transport itself: `httpx.AsyncClient` keeps cookies and replays them, also to
    other ports, and its layers cost half as much time again as the request.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Use the given transport; tests bring their own."""
        self._transport = transport or AiohttpTransport(client=_session, trust_env=False)

    async def __aenter__(self) -> GymClient:
        """Start."""
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
        """Ask for something."""
        return await self._send(httpx.Request("GET", url, headers=HEADERS), timeout)

    async def post(
        self,
        url: httpx.URL,
        content: bytes | AsyncIterable[bytes],
        *,
        timeout: float,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send JSON and wait for the answer."""
        merged = HEADERS if headers is None else _merged(headers)
        return await self._send(
            httpx.Request("POST", url, headers=merged, content=content), timeout
        )

    async def _send(self, request: httpx.Request, timeout: float) -> Reply:
        request.extensions["timeout"] = {"connect": CONNECT_SECONDS}
        try:
            async with asyncio.timeout(timeout):
                response = await self._transport.handle_async_request(request)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise _timed_out(error, timeout) from error
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _told_apart(error) from error
        except UnicodeError as error:
            raise NotSentError("the host's name cannot be looked up") from error
        except (ValueError, aiohttp.http_exceptions.HttpProcessingError) as error:
            raise GarbledError(_reason(error)) from error
        return Reply(response.status_code, response.headers, body)


def _merged(headers: Mapping[str, str]) -> httpx.Headers:
    merged = HEADERS.copy()
    merged.update(headers)
    return merged


async def _read(response: httpx.Response) -> bytes:
    is_encoded = any(name.lower() == b"content-encoding" for name, _ in response.headers.raw)
    assert isinstance(response.stream, httpx.AsyncByteStream)
    # if possible past httpx's decoders, which cost as much as sending the request
    stream = response.aiter_bytes() if is_encoded else response.stream
    chunks: list[bytes] = []
    size = 0
    async for chunk in stream:
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_REPLY:
            raise TooLargeError(f"the answer is larger than {LARGEST_REPLY >> 20} MB")
    return b"".join(chunks)


def _session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=0, keepalive_timeout=IDLE_SECONDS, socket_factory=_keepalive_socket
    )
    return aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
    )


def _keepalive_socket(address: Any) -> socket.socket:
    """Open a socket that notices a peer that vanished: rollouts may take an hour."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, option):  # not everywhere
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), KEEPALIVE_SECONDS)
    return made


def _timed_out(error: TimeoutError, timeout: float) -> ClientError:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return NotSentError(f"no connection within {CONNECT_SECONDS:g} s")
    return TooSlowError(f"no answer within {timeout:g} s")


def _told_apart(error: Exception) -> ClientError:
    # the transport calls refused and dropped connections alike: only the cause tells
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
    return LostError(_reason(cause or error))


def _reason(error: BaseException) -> str:
    # these texts have the URL, and it may hold a password
    if isinstance(error, aiohttp.ClientResponseError):
        return " ".join(error.message.split())
    if isinstance(error, (aiohttp.InvalidURL, httpx.UnsupportedProtocol)):
        return "not a URL that can be called"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return os.strerror(number) if number and number > 0 else str(error.os_error.strerror)
    return str(error) or type(error).__name__


def url_without_password(url: httpx.URL) -> str:
    """Return a URL as it may be shown."""
    return str(url.copy_with(username=None, password=None) if url.userinfo else url)
