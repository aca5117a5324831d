"""Read the marts for a page: open the warehouse while a page is made, and let go of it after."""

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
from collector.warehouse.access import RETRY_S, is_awaited
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row

LOCK_SECONDS = 5.0
LINGER_SECONDS = 1.0
PAUSE_SECONDS = 2 * RETRY_S
MEMORY_LIMIT = "256MB"
READERS = 2
"""So many pages read at once: DuckDB uses all processors for one, and all share its memory."""
NAMED = re.compile(r"\$(\w+)")
# what the pages read beyond the first columns there ever were
NEEDED = {
    "task_profiles": "masked_num_rollouts",
    "runs": "masked_rollout_count",
    "rollout_infos": "is_measured",
    "rollout_health": "gym_verdict",
    "mask_kinds": "failure_kind",
    "agent_efforts": "cost_mean",
    "task_bands": "band",
    "agent_reliability": "masked_rollout_count",
}


@dataclass(frozen=True)
class Query:
    """A query on the marts, with the values of its `$names`."""

    sql: str
    values: Row = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the query as a person would write it, to be shown and run elsewhere."""
        lines = self.sql.strip("\n").rstrip().splitlines()
        indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        cut = min(indents, default=0)
        text = "\n".join(line[cut:] for line in lines)
        return NAMED.sub(lambda match: literal(self.values[match[1]]), text)


class Reader:
    """A connection to the warehouse for as long as one page is made."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Keep the connection."""
        self._connection = connection

    def rows(self, query: Query) -> list[Row]:
        """Return the rows of a query by column."""
        # DuckDB refuses values that a query does not use
        values = {name: query.values[name] for name in set(NAMED.findall(query.sql))}
        result = self._connection.execute(query.sql, values)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def row(self, query: Query) -> Row | None:
        """Return the first row, if there is one."""
        return next(iter(self.rows(query)), None)


class Store:
    """The warehouse behind the pages.

    A process that reads a DuckDB file keeps others from writing to it. So the file is only open
    while pages are being made, and for a moment after: opening it takes longer than most queries.
    However many pages are asked for, somebody who waits to write gets a turn: it is let go of for
    long enough.
    """

    def __init__(self, path: Path) -> None:
        """Take the place of the warehouse; it is opened when a page needs it."""
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
        """Give a reader; what it reads does not change until it is given back."""
        cursor = self._enter()
        try:
            with self._slots:
                yield Reader(cursor)
        finally:
            cursor.close()
            self._leave()

    def close(self) -> None:
        """Let go of the warehouse, unless a page is being made."""
        with self._condition:
            if not self._users:
                self._close()

    def _enter(self) -> duckdb.DuckDBPyConnection:
        while True:
            with self._condition:
                self._stop_closing()
                # those who are inside may finish; who comes later waits until it is open again
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
            opening.result()  # or what kept one of us from opening it, for all

    def _open(self, opening: Future[None]) -> None:
        """Open the warehouse, which may take its time, while nobody is kept from leaving."""
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
        """Return how long a page has to wait; others may be done earlier."""
        if self._has_waiting_writer():
            if self._users:
                return PAUSE_SECONDS
            self._pause()
        return 0.0 if self._connection else self._opens_at - time.monotonic()

    def _has_waiting_writer(self) -> bool:
        return self._connection is not None and is_awaited(self.path)

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
        _check_columns(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a warehouse without marts, and one from before the pages' columns."""
    found = {
        (table, column)
        for table, column in connection.execute(
            "select table_name, column_name from duckdb_columns()"
            " where schema_name = 'main' and not internal"
        ).fetchall()
    }
    if not found:
        raise FileError(f"no marts in {path} yet\n  what to do: fill it with `spotter profile`")
    missing = [
        f"{table}.{column}" for table, column in NEEDED.items() if (table, column) not in found
    ]
    if missing:
        raise FileError(
            f"{path} was filled by an older version: it has no {', '.join(missing)}\n"
            "  what to do: profile its runs again with `spotter profile`"
        )


def literal(value: Any) -> str:
    """Write a value as SQL."""
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(literal(item) for item in value)}]"
    return "'" + str(value).replace("'", "''") + "'"
