"""An HTTP server whose clients cannot hold it up: limits on waiting, on connections and on logs.

A connection that waits for its client (for a request, for more of it, or for the client to read
the response) is closed after PATIENCE_SECONDS, or as soon as a new connection needs its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

KEEP_ALIVE_SECONDS = 30
PATIENCE_SECONDS = 30.0
# asyncio accepts this many connections in a row, before anything else gets its turn
ACCEPTED_AT_ONCE = 64
# the queue of connections that are not yet accepted
BACKLOG = 2048
QUIET_SECONDS = 60.0
LOG = logging.getLogger("spotter")
LOGGERS = ("asyncio", "spotter", "uvicorn.error")


class Connections:
    """The open connections of all servers of a process that share one limit."""

    def __init__(self, most: int) -> None:
        """Allow this many connections at once."""
        self.most = most
        self._open: set[LimitedProtocol] = set()
        # ordered by the time since which they wait
        self._waiting: dict[LimitedProtocol, float] = {}

    def __len__(self) -> int:
        """Return the number of open connections."""
        return len(self._open)

    def add(self, connection: LimitedProtocol) -> None:
        """Add a connection; if that is one too many, close the one that has waited longest."""
        self._open.add(connection)
        self.wait(connection)
        if len(self._open) > self.most:
            LOG.warning(
                "the limit of %d connections is reached: each new one closes the one that has"
                " waited longest for its client (logged once a minute)",
                self.most,
            )
            self.close_longest_waiting(1)

    def wait(self, connection: LimitedProtocol) -> None:
        """Note that a connection waits for its client from now on."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = time.monotonic()

    def is_waiting(self, connection: LimitedProtocol) -> bool:
        """Tell whether a connection waits for its client."""
        return connection in self._waiting

    def work(self, connection: LimitedProtocol) -> None:
        """Note that the server works for a connection, which must not be closed now."""
        self._waiting.pop(connection, None)

    def remove(self, connection: LimitedProtocol) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)

    def close_longest_waiting(self, count: int) -> None:
        """Close this many connections, or as many as wait for their client."""
        for connection in list(itertools.islice(self._waiting, count)):
            self._close(connection)

    def close_overdue(self) -> None:
        """Close the connections that have waited for PATIENCE_SECONDS."""
        latest = time.monotonic() - PATIENCE_SECONDS
        for connection, since in list(self._waiting.items()):
            if since > latest:
                break
            self._close(connection)

    def _close(self, connection: LimitedProtocol) -> None:
        self.remove(connection)
        # close() would first wait until the client has read everything
        connection.transport.abort()


class LimitedProtocol(H11Protocol):
    """A connection that tells whether it waits for its client."""

    def __init__(self, *arguments: Any, connections: Connections, **options: Any) -> None:
        """Take uvicorn's arguments, and the connections to be one of."""
        super().__init__(*arguments, **options)
        self._all = connections
        self._is_receiving = False
        """Whether a part of a request has arrived, but not all of its headers."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        self._all.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait on; only the first part of the headers and every part of the body extend the wait.

        A client that sends its headers byte by byte would otherwise never be overdue.
        """
        was_receiving = self._is_receiving
        super().data_received(data)
        self._is_receiving = not self._has_request()
        self._update(is_extended=not (was_receiving and self._is_receiving))

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the client to read the response."""
        super().on_response_complete()
        self._is_receiving = False
        self._update(is_extended=True)

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._update(is_extended=True)

    def resume_writing(self) -> None:
        """Go on, as the client has read enough."""
        super().resume_writing()
        self._update(is_extended=True)

    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _update(self, *, is_extended: bool) -> None:
        if self._has_request() and not self.cycle.more_body and not self.flow.write_paused:
            self._all.work(self)
        elif is_extended or not self._all.is_waiting(self):
            self._all.wait(self)


class LimitedServer(uvicorn.Server):
    """A server with limits, which leaves signals to the command that started it."""

    def __init__(self, app: ASGIApp, connections: Connections, **settings: Any) -> None:
        """Serve an application; settings are those of `uvicorn.Config`."""
        super().__init__(
            uvicorn.Config(
                app,
                http=functools.partial(LimitedProtocol, connections=connections),  # type: ignore[arg-type]
                ws="none",
                log_level="warning",
                access_log=False,  # a URL may hold a token
                backlog=ACCEPTED_AT_ONCE,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                **settings,
            )
        )
        self._connections = connections

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals as they are."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve, with a longer queue of connections that are not yet accepted."""
        asyncio.get_running_loop().set_exception_handler(self._handle_error)
        for name in LOGGERS:
            _add_filter(logging.getLogger(name))
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)

    async def on_tick(self, counter: int) -> bool:
        """Close overdue connections; uvicorn calls this ten times a second."""
        self._connections.close_overdue()
        return await super().on_tick(counter)

    def _handle_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Make room if a connection could not be accepted; log any other error as usual."""
        error = context.get("exception")
        if isinstance(error, OSError) and "accept" in str(context.get("message")):
            LOG.warning("cannot accept a connection: %s (logged once a minute)", error.strerror)
            # asyncio calls this as often as it would have accepted a connection
            self._connections.close_longest_waiting(1)
        else:
            loop.default_exception_handler(context)


class RepetitionFilter(logging.Filter):
    """Lets the same message pass once a minute: whoever can connect could fill the disk."""

    def __init__(self) -> None:
        """Remember no message yet."""
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to log a record."""
        error = record.exc_info[1] if record.exc_info else None
        key = f"{record.getMessage()} {error!r}"
        now = time.monotonic()
        if now - self._last.get(key, -QUIET_SECONDS) < QUIET_SECONDS:
            return False
        self._last = {old: at for old, at in self._last.items() if now - at < QUIET_SECONDS}
        self._last[key] = now
        return True


def _add_filter(logger: logging.Logger) -> None:
    if not any(isinstance(known, RepetitionFilter) for known in logger.filters):
        logger.addFilter(RepetitionFilter())
