"""Serve the tests' own servers from a thread: a process for each would take half a second."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from aiohttp import web

T = TypeVar("T")


class Host:
    """An event loop in a thread, with any number of servers."""

    def __init__(self) -> None:
        logging.getLogger("aiohttp").propagate = False  # what fails there fails on purpose
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="host")
        self._thread.start()

    def serve(self, app: web.Application, port: int) -> web.AppRunner:
        """Start to answer; return what `stop` needs."""
        return self._wait_for(_start(app, port))

    def stop(self, server: web.AppRunner) -> None:
        """End a server at once, with everything that it is doing."""
        self._wait_for(server.cleanup())

    def close(self) -> None:
        self._wait_for(_end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


async def _start(app: web.Application, port: int) -> web.AppRunner:
    server = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", port, backlog=4096).start()
    return server


async def _end_tasks() -> None:
    """Cancel what hangs on purpose: asyncio complains about tasks that are never ended."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
