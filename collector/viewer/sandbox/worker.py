"""Runs one query and exits: the program of the process that `runner` starts.

It reads a request as one line of JSON from standard input. It writes lines of JSON: the columns,
the rows, and how the query ended. The kernel limits its resources, because DuckDB does not always
notice that a query should stop, and does not count all memory that a function uses.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from collector.errors import BusyError, FileError, UsageError
from collector.spreadsheets import guard_formula
from collector.warehouse.queries import open_read_only

Row = tuple[Any, ...]
CHUNK_ROWS = 100
TEXT_CHARACTERS = 1 << 20
CELL_CHARACTERS = 2_000
LOCK_SECONDS = 3.0
NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*|BIGNUM")
BLANK = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*"
EXPLAIN = re.compile(
    rf"{BLANK}explain{BLANK}(?:analyze\b{BLANK}|\([^()]*\){BLANK})?", re.IGNORECASE | re.DOTALL
)
VALUES = "select now(), current_date, current_time, 1.5::decimal(9, 1), uuid(), interval 1 day"
HINTS = {
    "MULTI": "write the values of the pivot: pivot … on column in ('a', 'b')",
    "CALL": "select from the table function: from name(…)",
    "PRAGMA": "use describe or show to inspect tables",
}


class LimitError(Exception):
    """The result is larger than the limit."""


def main() -> None:
    """Answer the request on standard input."""
    _redirect_output()
    request = orjson.loads(sys.stdin.buffer.readline())
    _limit_time(request["seconds"])
    try:
        _run_query(request)
    except (UsageError, duckdb.Error, LimitError) as error:
        _send(error=_error_message(error, request["memory_mb"]), kind=_error_kind(error))
    except (FileError, MemoryError) as error:
        kind = "busy" if isinstance(error, BusyError) else "file"
        kind = "memory" if isinstance(error, MemoryError) else kind
        _send(error=str(error) or "out of memory", kind=kind)
    sys.stdout.flush()
    # a normal exit of the interpreter would take long to free a large result
    os._exit(0)


def _run_query(request: dict[str, Any]) -> None:
    connection = open_read_only(
        Path(request["path"]),
        on_wait=lambda _: None,
        timeout_s=LOCK_SECONDS,
        memory_limit=f"{request['memory_mb']}MB",
        threads=2,
    )
    _limit_resources(connection, request["memory_mb"] << 20, int(request["seconds"]))
    _check(connection, request["query"])
    result = connection.execute(request["query"])
    columns = result.description or []
    names = [column[0] for column in columns]
    if not names:
        raise UsageError("the query has no result: write a query that begins with select")
    _send(columns=names, numbers=[bool(NUMBERS.fullmatch(str(column[1]))) for column in columns])
    if request["is_csv"]:
        _send_csv(names, _fetch_rows(result, request["rows"], is_exact=True))
    else:
        limit = min(request["rows"], max(1, request["cells"] // len(names)))
        _send_page(_fetch_rows(result, limit, is_exact=False), request["characters"])
    _send(is_done=True)


def _send_page(rows: Iterator[Row], characters: int) -> None:
    """Send rows up to a number of characters; the first row is sent in any case."""
    sent = 0
    for row in rows:
        cells = [_cell(value) for value in row]
        size = sum(len(cell) for cell in cells if cell)
        if sent and sent + size > characters:
            _send(is_cut=True)
            return
        _send(rows=[cells])
        sent += size


def _redirect_output() -> None:
    """Send other output to standard error: DuckDB might write its progress between our messages."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = os.fdopen(own, "w", encoding="utf-8")


def _limit_time(seconds: float) -> None:
    """Let the kernel end this process even if the viewer is gone."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 2)
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, 0)


def _limit_resources(
    connection: duckdb.DuckDBPyConnection, memory_bytes: int, seconds: int
) -> None:
    """Limit CPU time and memory, and forbid to open files, which only the start needs."""
    _set_limit(resource.RLIMIT_CPU, 4 * seconds + 4)
    _set_limit(resource.RLIMIT_DATA, 2 * memory_bytes)
    # DuckDB reads modules and time zones from files when it first converts such a value
    connection.execute(VALUES).fetchall()
    _set_limit(resource.RLIMIT_NOFILE, _first_free_descriptor())


def _first_free_descriptor() -> int:
    with open("/dev/null", "rb") as file:  # noqa: PTH123 - only the descriptor matters
        return file.fileno()


def _set_limit(which: int, value: int) -> None:
    # systems other than Linux lack some limits; the timer and DuckDB's own limit remain
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (value, value))


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Raise UsageError unless the text is one select, or an explain of one."""
    statements = connection.extract_statements(query)
    if not statements:
        raise UsageError("there is no query: write a query that begins with select")
    if len(statements) > 1:
        raise UsageError(f"run one query at a time: these are {len(statements)}")
    (statement,) = statements
    if statement.type == duckdb.StatementType.EXPLAIN:
        _check_explain(connection, query)
    elif statement.type != duckdb.StatementType.SELECT:
        name = statement.type.name
        hint = f"\n{HINTS[name]}" if name in HINTS else ""
        raise UsageError(f"only queries are allowed, not {name.lower()}{hint}")


def _check_explain(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Raise UsageError unless the explained query is a select: `explain analyze` runs it."""
    match = EXPLAIN.match(query)
    inner = connection.extract_statements(query[match.end() :]) if match else []
    if [statement.type for statement in inner] != [duckdb.StatementType.SELECT]:
        raise UsageError("only queries can be explained")


def _fetch_rows(result: duckdb.DuckDBPyConnection, limit: int, *, is_exact: bool) -> Iterator[Row]:
    """Give up to `limit` rows; if there are more, raise LimitError or send that it is cut."""
    count = 0
    while rows := result.fetchmany(min(CHUNK_ROWS, limit + 1 - count)):
        count += len(rows)
        if count <= limit:
            yield from rows
            continue
        yield from rows[: limit - count]
        if is_exact:
            raise LimitError(
                f"the result has more than {limit:,} rows: add a limit or a where clause"
            )
        _send(is_cut=True)
        return


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


def _send_csv(names: list[str], rows: Iterator[Row]) -> None:
    """Send what `spotter sql --csv` prints, with texts that spreadsheets do not run as formulas."""
    _send_lines([[guard_formula(name) for name in names]])
    for chunk in _chunks(rows):
        _send_lines(
            [
                [guard_formula(value) if isinstance(value, str) else value for value in row]
                for row in chunk
            ]
        )


def _send_lines(rows: list[Any]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    text = out.getvalue()
    for start in range(0, len(text), TEXT_CHARACTERS):
        _send(text=text[start : start + TEXT_CHARACTERS])


def _cell(value: Any) -> str | None:
    """Return a value as text; a long text is cut, and an ellipsis shows it."""
    if value is None:
        return None
    text = _text(value)
    return text if len(text) <= CELL_CHARACTERS else text[:CELL_CHARACTERS] + "…"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[: CELL_CHARACTERS + 1]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, bytearray)):
        return str(bytes(value[:CELL_CHARACTERS]))
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return str(value)


def _error_kind(error: Exception) -> str:
    if isinstance(error, LimitError):
        return "limit"
    return "memory" if isinstance(error, duckdb.OutOfMemoryException) else "query"


def _error_message(error: Exception, memory_mb: int) -> str:
    """Return the message without DuckDB's advice, which does not apply here."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"the query needs more than {memory_mb} MB of memory, the limit on this page"
    if isinstance(error, duckdb.PermissionException) and "LocalFileSystem" in str(error):
        position = str(error).partition("\n")[2].strip("\n")
        return f"queries can read the tables of the warehouse, not files\n\n{position}".strip()
    return str(error)


def _send(**message: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
