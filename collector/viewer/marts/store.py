"""Opens the warehouse while pages read it, and closes it soon after, so that others can write."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from collector.errors import FileError
from collector.profiling.marts import check_marts
from collector.warehouse.access import RETRY_S
from collector.warehouse.files import has_waiting_writer
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row

LOCK_SECONDS = 5.0
LINGER_SECONDS = 1.0
PAUSE_SECONDS = 2 * RETRY_S
MEMORY_LIMIT = "256MB"
READERS = 2
"""How many pages read at once: DuckDB uses all processors for one, and they share its memory."""
NAMED = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Query:
    """A query on the marts, with the values of its `$names`."""

    sql: str
    values: Row = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the query with its values inserted, so that users can run it themselves."""
        lines = self.sql.strip("\n").rstrip().splitlines()
        indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        indent = min(indents, default=0)
        text = "\n".join(line[indent:] for line in lines)
        return NAMED.sub(lambda match: literal(self.values[match[1]]), text)


class Reader:
    """A connection to the warehouse for the time that one page needs it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create a reader that uses a connection; the caller closes the connection."""
        self._connection = connection

    def rows(self, query: Query) -> list[Row]:
        """Return the rows of a query as dicts by column name."""
        # DuckDB raises an error for values that the query does not use
        values = {name: query.values[name] for name in set(NAMED.findall(query.sql))}
        result = self._connection.execute(query.sql, values)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return another connection to the same file, which the caller closes."""
        return self._connection.cursor()

    def row(self, query: Query) -> Row | None:
        """Return the first row of a query, or None."""
        return next(iter(self.rows(query)), None)


class Store:
    """The warehouse behind the pages.

    While a process reads a DuckDB file, no other process can write to it. So the file is open only
    while pages read it, and for a moment after, since opening takes longer than most queries. If
    another process waits to write, the file is closed for long enough, however many pages wait.
    """

    def __init__(self, path: Path) -> None:
        """Create a store of the warehouse at a path, without opening it yet."""
        self.path = path
        self._condition = threading.Condition()
        self._users = 0
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._closing: threading.Timer | None = None
        self._opens_at = 0.0
        self._opening: Future[None] | None = None
        self._slots = threading.BoundedSemaphore(READERS)

    @contextlib.contextmanager
    def open_reader(self) -> Iterator[Reader]:
        """Give a reader; nobody writes to the warehouse while the context is open."""
        cursor = self._enter()
        try:
            with self._slots:
                yield Reader(cursor)
        finally:
            cursor.close()
            self._leave()

    def close(self) -> None:
        """Close the warehouse, unless a page is reading it."""
        with self._condition:
            if not self._users:
                self._close()

    def _enter(self) -> duckdb.DuckDBPyConnection:
        while True:
            with self._condition:
                self._stop_closing()
                # current readers may finish; new ones wait until the warehouse is open again
                while (seconds := self._seconds_to_wait()) > 0:
                    self._condition.wait(seconds)
                if self._connection is not None:
                    cursor = self._connection.cursor()
                    self._users += 1
                    return cursor
                is_mine = self._opening is None
                opening = self._opening = self._opening or Future()
            if is_mine:
                self._open(opening)
            opening.result()  # raises for every waiting page if opening failed

    def _open(self, opening: Future[None]) -> None:
        """Open the warehouse without holding the lock, since opening may take long."""
        try:
            connection = _open(self.path)
        except BaseException as error:
            with self._condition:
                self._opening = None
            opening.set_exception(error)
            raise
        else:
            with self._condition:
                self._opening, self._connection = None, connection
            opening.set_result(None)

    def _leave(self) -> None:
        with self._condition:
            self._users -= 1
            if self._users:
                return
            if self._has_waiting_writer():
                self._pause()
            else:
                self._closing = threading.Timer(LINGER_SECONDS, self.close)
                self._closing.daemon = True
                self._closing.start()

    def _seconds_to_wait(self) -> float:
        """Return how long a page has to wait at most before it checks again."""
        if self._has_waiting_writer():
            if self._users:
                return PAUSE_SECONDS
            self._pause()
        return 0.0 if self._connection else self._opens_at - time.monotonic()

    def _has_waiting_writer(self) -> bool:
        return self._connection is not None and has_waiting_writer(self.path)

    def _pause(self) -> None:
        self._close()
        self._opens_at = time.monotonic() + PAUSE_SECONDS
        self._condition.notify_all()

    def _stop_closing(self) -> None:
        if self._closing:
            self._closing.cancel()
            self._closing = None

    def _close(self) -> None:
        self._stop_closing()
        if self._connection:
            self._connection.close()
            self._connection = None


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    connection = open_read_only(
        path, on_wait=lambda _: None, timeout_s=LOCK_SECONDS, memory_limit=MEMORY_LIMIT
    )
    try:
        _require_marts(connection, path)
        check_marts(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_marts(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    row = connection.execute("select 1 from duckdb_tables() where schema_name = 'main'").fetchone()
    if row is None:
        raise FileError(f"{path} has no marts yet\n  what to do: fill it with `spotter profile`")


def literal(value: Any) -> str:
    """Return a value as an SQL literal."""
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(literal(item) for item in value)}]"
    return "'" + str(value).replace("'", "''") + "'"
