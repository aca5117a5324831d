"""Run a person's query in a process of its own, which can be ended whatever it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from collector.child_process import last_line
from collector.errors import BusyError, FileError, SpotterError

Message = dict[str, Any]
START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from collector.viewer.sandbox.worker import main; main()"
)
LINE_BYTES = 16 << 20
NOISE_BYTES = 2_000


class QueryError(SpotterError):
    """A query that cannot be answered, with the reason in words for its author."""

    exit_code = 2

    def __init__(self, message: str, *, is_limit: bool = False) -> None:
        """Keep whether the query was fine, but asked for too much."""
        super().__init__(message)
        self.is_limit = is_limit


class CrowdedError(SpotterError):
    """As many queries are running as may run at once."""


@dataclass(frozen=True)
class Limits:
    """What a query may use."""

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
    """How long a query waits for others to end."""


@dataclass(frozen=True)
class Answer:
    """The first rows of a result, as text; `numbers` says which columns hold numbers."""

    columns: list[str]
    numbers: list[bool]
    rows: list[list[str | None]]
    is_cut: bool
    seconds: float


@dataclass
class Sandbox:
    """Answers queries on one warehouse, a few at a time."""

    warehouse: Path
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Make the places for queries that run at once."""
        self._places = asyncio.Semaphore(self.limits.at_once)

    async def ask(self, query: str) -> Answer:
        """Return the first rows of a query."""
        started = time.monotonic()
        found: Message = {"columns": [], "numbers": [], "rows": [], "is_cut": False}
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
                found |= message
        return Answer(
            columns=found["columns"],
            numbers=found["numbers"],
            rows=rows,
            is_cut=found["is_cut"],
            seconds=time.monotonic() - started,
        )

    async def write_csv(self, query: str) -> IO[bytes]:
        """Return a nameless file with the whole result, at its beginning."""
        request = {"rows": self.limits.file_rows, "is_csv": True}
        file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
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
        """Start a process for the query, and give what it says; it is gone in the end."""
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.patience_seconds)
        except TimeoutError as error:
            raise CrowdedError(
                f"{self.limits.at_once} queries are running already; try again when they are done"
            ) from error
        try:
            async with asyncio.timeout(self.limits.seconds), _process() as process:
                limits = {"seconds": self.limits.seconds, "memory_mb": self.limits.memory_mb}
                given = {"path": str(self.warehouse), "query": query, **request, **limits}
                await _tell(process, orjson.dumps(given) + b"\n")
                yield _read(process, max_bytes)
        except TimeoutError as error:
            raise QueryError(
                f"the query was stopped: it took longer than {self.limits.seconds:.0f} seconds",
                is_limit=True,
            ) from error
        finally:
            self._places.release()


@contextlib.asynccontextmanager
async def _process() -> AsyncIterator[asyncio.subprocess.Process]:
    """Start Python with nothing of our environment, and end it in every case."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-c", START),
        *(os.path.abspath(path) for path in sys.path),  # noqa: PTH100
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"LANG": "C.UTF-8", "PATH": os.defpath},
        cwd="/",
        limit=LINE_BYTES,
        start_new_session=True,  # Ctrl-C is for the server, which ends it
    )
    try:
        yield process
    finally:
        # not process.kill(): before Python 3.12 it may take the exit code away from the loop
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        # with what is left in its pipes: that would keep a mere wait from ending
        await asyncio.shield(process.communicate())


async def _tell(process: asyncio.subprocess.Process, request: bytes) -> None:
    assert process.stdin
    with contextlib.suppress(ConnectionError):  # it ended early: its answer tells why
        process.stdin.write(request)
        await process.stdin.drain()
        process.stdin.close()


async def _read(process: asyncio.subprocess.Process, max_bytes: int) -> AsyncIterator[Message]:
    """Read what the process says until it says that it is done; anything else is an error."""
    assert process.stdout
    left = max_bytes
    while line := await _line(process.stdout):
        left -= len(line)
        if left < 0:
            raise QueryError(
                f"the result is larger than {max_bytes >> 20} MB: ask for fewer rows or columns",
                is_limit=True,
            )
        message = _parsed(line)
        if "error" in message:
            raise _error(message)
        if message.get("is_done"):
            return
        yield message
    raise await _died(process)


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError as error:  # the line is longer than the limit
        raise QueryError("a row of the result is too large to be shown", is_limit=True) from error


def _parsed(line: bytes) -> Message:
    try:
        message: Message = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise QueryError("the query ended in the middle of its answer", is_limit=True) from error
    return message


def _error(message: Message) -> SpotterError:
    text = message["error"]
    if message["kind"] == "busy":
        return BusyError(text)
    if message["kind"] == "file":
        return FileError(text)
    return QueryError(text, is_limit=message["kind"] in ("limit", "memory"))


async def _died(process: asyncio.subprocess.Process) -> SpotterError:
    """Say why a process ended without a word: the kernel ended it, or it is broken."""
    assert process.stderr
    complaints = await process.stderr.read(NOISE_BYTES)
    code = await process.wait()
    if code < 0:
        return QueryError(
            "the query was stopped: it took more memory or time than it may, or DuckDB could"
            " not cope with it",
            is_limit=True,
        )
    return QueryError(f"the query could not be run (exit code {code}){last_line(complaints)}")
