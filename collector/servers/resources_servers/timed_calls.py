"""Call an environment in threads, each call for a limited time.

Python cannot end a thread. A call that runs out of time is abandoned: its result is ignored, and
its thread goes on until the environment returns. So only a number of them are tolerated. A
function that keeps Python's interpreter lock, as a regular expression does, delays all servers
and the time limit itself: an environment must not let a model choose how long such a call takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

from collector.servers.web import RequestRefusedError

DEFAULT_CALL_SECONDS = 600.0
MOST_CALLS = 40
MOST_ABANDONED = 40
LOG = logging.getLogger("spotter")


class CallTimeoutError(Exception):
    """A call of an environment took too long and was abandoned; the message says how long."""


class TimedCalls:
    """The calls of one environment."""

    def __init__(self, seconds: float = DEFAULT_CALL_SECONDS) -> None:
        """Allow each call this many seconds."""
        self._seconds = seconds
        self._slots = asyncio.Semaphore(MOST_CALLS)
        self._abandoned: set[asyncio.Future[Any]] = set()

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a function's result; raise what it raises, or CallTimeoutError.

        Raise RequestRefusedError if too many abandoned calls are still running.
        """
        async with self._slots:
            if len(self._abandoned) >= MOST_ABANDONED:
                raise RequestRefusedError(
                    503,
                    f"{len(self._abandoned)} calls of this environment still run after their time"
                    f" limit of {self._seconds:g} s; restart the servers",
                )
            result = self._start(function, *arguments)
            try:
                async with asyncio.timeout(self._seconds) as limit:
                    return await result
            except TimeoutError:
                if not limit.expired():  # the environment's own error
                    raise
            self._abandoned.add(result)
        LOG.warning("a call of %s was abandoned after %g s", _name(function), self._seconds)
        raise CallTimeoutError(f"gave up after {self._seconds:g} s")

    def _start(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def call() -> None:
            value: Any = None
            error: BaseException | None = None
            try:
                value = function(*arguments)
            except (SystemExit, KeyboardInterrupt, StopIteration) as problem:
                # these would end the server or the thread, or cannot be passed on
                error = RuntimeError(f"the environment raised {type(problem).__name__}")
                error.__cause__ = problem
            except BaseException as problem:  # noqa: BLE001 - environments run any code
                error = problem
            with contextlib.suppress(RuntimeError):  # the loop has already ended
                loop.call_soon_threadsafe(self._finish, future, value, error)

        threading.Thread(target=call, name="environment", daemon=True).start()
        return future

    def _finish(self, future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
        self._abandoned.discard(future)
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
