"""Runs a user's query in a separate process, which can be killed whatever the query does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from collector.child_process import last_line
from collector.errors import BusyError, FileError, SpotterError
from collector.temporary_files import unnamed_file

Message = dict[str, Any]
START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from collector.viewer.sandbox.worker import main; main()"
)
LINE_BYTES = 16 << 20
NOISE_BYTES = 2_000


class QueryError(SpotterError):
    """A query that failed; the message is written for the author of the query."""

    exit_code = 2

    def __init__(self, message: str, *, is_limit: bool = False) -> None:
        """Create the error; `is_limit` says that a valid query exceeded a limit."""
        super().__init__(message)
        self.is_limit = is_limit


class TooManyQueriesError(SpotterError):
    """The maximum number of queries is running already."""


@dataclass(frozen=True)
class Limits:
    """The resources that a query may use."""

    seconds: float = 10.0
    memory_mb: int = 512
    page_rows: int = 1_000
    page_cells: int = 30_000
    page_characters: int = 3_000_000
    page_bytes: int = 16 << 20
    file_rows: int = 1_000_000
    file_bytes: int = 256 << 20
    at_once: int = 2
    patience_seconds: float = 5.0
    """How long a query waits for other queries to end."""


@dataclass(frozen=True)
class SandboxResult:
    """The first rows of a result, as text; `numbers` says which columns hold numbers."""

    columns: list[str]
    numbers: list[bool]
    rows: list[list[str | None]]
    is_cut: bool
    seconds: float


@dataclass
class Sandbox:
    """Runs queries on one warehouse, a few at a time."""

    warehouse: Path
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Create the slots for queries that run at the same time."""
        self._slots = asyncio.Semaphore(self.limits.at_once)

    async def run_query(self, query: str) -> SandboxResult:
        """Return the first rows of a query, or raise QueryError."""
        started = time.monotonic()
        header: Message = {"columns": [], "numbers": [], "is_cut": False}
        rows: list[list[str | None]] = []
        request = {
            "rows": self.limits.page_rows,
            "cells": self.limits.page_cells,
            "characters": self.limits.page_characters,
            "is_csv": False,
        }
        async with self._messages(query, request, self.limits.page_bytes) as messages:
            async for message in messages:
                rows += message.pop("rows", [])
                header |= message
        return SandboxResult(
            columns=header["columns"],
            numbers=header["numbers"],
            rows=rows,
            is_cut=header["is_cut"],
            seconds=time.monotonic() - started,
        )

    async def write_csv(self, query: str) -> IO[bytes]:
        """Return an open temporary file with the whole result as CSV, which the caller closes."""
        request = {"rows": self.limits.file_rows, "is_csv": True}
        file: IO[bytes] = unnamed_file()
        try:
            async with self._messages(query, request, self.limits.file_bytes) as messages:
                async for message in messages:
                    file.write(message.get("text", "").encode())
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    @contextlib.asynccontextmanager
    async def _messages(
        self, query: str, request: Message, max_bytes: int
    ) -> AsyncIterator[AsyncIterator[Message]]:
        """Start a process for a query and give its messages; the process has ended on exit."""
        try:
            await asyncio.wait_for(self._slots.acquire(), self.limits.patience_seconds)
        except TimeoutError as error:
            raise TooManyQueriesError(
                f"{self.limits.at_once} queries are already running; try again when they have ended"
            ) from error
        try:
            async with asyncio.timeout(self.limits.seconds), _start_worker() as process:
                limits = {"seconds": self.limits.seconds, "memory_mb": self.limits.memory_mb}
                full = {"path": str(self.warehouse), "query": query, **request, **limits}
                await _send_request(process, orjson.dumps(full) + b"\n")
                yield _read_messages(process, max_bytes)
        except TimeoutError as error:
            raise QueryError(
                f"the query was stopped: it took longer than {self.limits.seconds:.0f} seconds",
                is_limit=True,
            ) from error
        finally:
            self._slots.release()


@contextlib.asynccontextmanager
async def _start_worker() -> AsyncIterator[asyncio.subprocess.Process]:
    """Start the worker with an empty environment, and kill it on exit."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-c", START),
        *(os.path.abspath(path) for path in sys.path),  # noqa: PTH100
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"LANG": "C.UTF-8", "PATH": os.defpath},
        cwd="/",
        limit=LINE_BYTES,
        start_new_session=True,  # Ctrl-C goes to the server only, which kills the worker
    )
    try:
        yield process
    finally:
        # not process.kill(): before Python 3.12, the event loop may miss the exit code
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        # communicate() empties the pipes; with full pipes, wait() would never return
        await asyncio.shield(process.communicate())


async def _send_request(process: asyncio.subprocess.Process, request: bytes) -> None:
    assert process.stdin
    with contextlib.suppress(ConnectionError):  # the worker ended early: its messages say why
        process.stdin.write(request)
        await process.stdin.drain()
        process.stdin.close()


async def _read_messages(
    process: asyncio.subprocess.Process, max_bytes: int
) -> AsyncIterator[Message]:
    """Give the messages of a process until it is done; raise its error, or one for a crash."""
    assert process.stdout
    left = max_bytes
    while line := await _read_line(process.stdout):
        left -= len(line)
        if left < 0:
            raise QueryError(
                f"the result is larger than {max_bytes >> 20} MB: select fewer rows or columns",
                is_limit=True,
            )
        message = _parse_message(line)
        if "error" in message:
            raise _to_error(message)
        if message.get("is_done"):
            return
        yield message
    raise await _crash_error(process)


async def _read_line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError as error:  # the line is longer than the limit
        raise QueryError("a row of the result is too large to show", is_limit=True) from error


def _parse_message(line: bytes) -> Message:
    try:
        message: Message = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise QueryError("the query ended in the middle of its result", is_limit=True) from error
    return message


def _to_error(message: Message) -> SpotterError:
    text = message["error"]
    if message["kind"] == "busy":
        return BusyError(text)
    if message["kind"] == "file":
        return FileError(text)
    return QueryError(text, is_limit=message["kind"] in ("limit", "memory"))


async def _crash_error(process: asyncio.subprocess.Process) -> SpotterError:
    """Return the error for a process that ended early: the kernel killed it, or it crashed."""
    assert process.stderr
    complaints = await process.stderr.read(NOISE_BYTES)
    code = await process.wait()
    if code < 0:
        return QueryError(
            "the query was stopped: it exceeded its memory or time limit, or it crashed DuckDB",
            is_limit=True,
        )
    return QueryError(f"the query could not be run (exit code {code}){last_line(complaints)}")
