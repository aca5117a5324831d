"""Run one query and end: the whole life of the process that `sandbox` starts.

It reads a request as one line of JSON, and writes lines of JSON: the columns, chunks of rows, and
how it ended. What it may use is limited by the kernel, since DuckDB does not always notice that a
query should stop, nor counts all memory that a function takes.
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
    "MULTI": "a pivot needs its values here: pivot … on column in ('a', 'b')",
    "CALL": "a table function can be selected from: from name(…)",
    "PRAGMA": "describe and show tell about tables",
}


class LimitError(Exception):
    """The result is larger than it may be."""


def main() -> None:
    """Answer the request on standard input."""
    _keep_output_clean()
    request = orjson.loads(sys.stdin.buffer.readline())
    _limit_time(request["seconds"])
    try:
        _answer(request)
    except (UsageError, duckdb.Error, LimitError) as error:
        _send(error=_readable(error, request["memory_mb"]), kind=_kind(error))
    except (FileError, MemoryError) as error:
        kind = "busy" if isinstance(error, BusyError) else "file"
        kind = "memory" if isinstance(error, MemoryError) else kind
        _send(error=str(error) or "out of memory", kind=kind)
    sys.stdout.flush()
    # not through the interpreter's end: letting go of a large result takes long
    os._exit(0)


def _answer(request: dict[str, Any]) -> None:
    connection = open_read_only(
        Path(request["path"]),
        on_wait=lambda _: None,
        timeout_s=LOCK_SECONDS,
        memory_limit=f"{request['memory_mb']}MB",
        threads=2,
    )
    _limit_rest(connection, request["memory_mb"] << 20, int(request["seconds"]))
    _check(connection, request["query"])
    result = connection.execute(request["query"])
    described = result.description or []
    names = [column[0] for column in described]
    if not names:
        raise UsageError("the query has no result: write one that begins with select")
    _send(columns=names, numbers=[bool(NUMBERS.fullmatch(str(one[1]))) for one in described])
    if request["is_csv"]:
        _send_csv(names, _fetched(result, request["rows"], is_exact=True))
    else:
        limit = min(request["rows"], max(1, request["cells"] // len(names)))
        _send_page(_fetched(result, limit, is_exact=False), request["characters"])
    _send(is_done=True)


def _send_page(rows: Iterator[Row], characters: int) -> None:
    """Send rows until there are as many characters as a page bears; the first comes in any case."""
    sent = 0
    for row in rows:
        cells = [_cell(value) for value in row]
        size = sum(len(cell) for cell in cells if cell)
        if sent and sent + size > characters:
            _send(is_cut=True)
            return
        _send(rows=[cells])
        sent += size


def _keep_output_clean() -> None:
    """Let nobody else write where the answer goes: DuckDB might show its progress there."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = os.fdopen(own, "w", encoding="utf-8")


def _limit_time(seconds: float) -> None:
    """Let the kernel end this process even if nobody else is left to do it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 2)
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, 0)


def _limit_rest(connection: duckdb.DuckDBPyConnection, memory_bytes: int, seconds: int) -> None:
    """Take away what only the start needed: files, and memory beyond twice DuckDB's share."""
    _set_limit(resource.RLIMIT_CPU, 4 * seconds + 4)
    _set_limit(resource.RLIMIT_DATA, 2 * memory_bytes)
    # modules and time zones are read from files when the first such value is met
    connection.execute(VALUES).fetchall()
    _set_limit(resource.RLIMIT_NOFILE, _first_free_descriptor())


def _first_free_descriptor() -> int:
    with open("/dev/null", "rb") as file:  # noqa: PTH123 - the number counts
        return file.fileno()


def _set_limit(which: int, value: int) -> None:
    # other systems than Linux do not know each of them; the clock and DuckDB's own limit remain
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (value, value))


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Allow one query, or the explanation of one."""
    statements = connection.extract_statements(query)
    if not statements:
        raise UsageError("there is no query: write one that begins with select")
    if len(statements) > 1:
        raise UsageError(f"one query at a time, please: these are {len(statements)}")
    (statement,) = statements
    if statement.type == duckdb.StatementType.EXPLAIN:
        _check_explained(connection, query)
    elif statement.type != duckdb.StatementType.SELECT:
        name = statement.type.name
        hint = f"\n{HINTS[name]}" if name in HINTS else ""
        raise UsageError(f"only queries are allowed, not {name.lower()}{hint}")


def _check_explained(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Look at what is explained: `explain analyze` runs it."""
    match = EXPLAIN.match(query)
    inner = connection.extract_statements(query[match.end() :]) if match else []
    if [statement.type for statement in inner] != [duckdb.StatementType.SELECT]:
        raise UsageError("only queries can be explained")


def _fetched(result: duckdb.DuckDBPyConnection, limit: int, *, is_exact: bool) -> Iterator[Row]:
    """Give the rows up to the limit; one more is an error, or the end with a note."""
    count = 0
    while rows := result.fetchmany(min(CHUNK_ROWS, limit + 1 - count)):
        count += len(rows)
        if count <= limit:
            yield from rows
            continue
        yield from rows[: limit - count]
        if is_exact:
            raise LimitError(f"there are more than {limit:,} rows: add a limit or a where")
        _send(is_cut=True)
        return


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


def _send_csv(names: list[str], rows: Iterator[Row]) -> None:
    """Send what `spotter sql --csv` prints, with texts that no spreadsheet runs."""
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
    """Write a value as text, cut if it is long: the page says so by the last character."""
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


def _kind(error: Exception) -> str:
    if isinstance(error, LimitError):
        return "limit"
    return "memory" if isinstance(error, duckdb.OutOfMemoryException) else "query"


def _readable(error: Exception, memory_mb: int) -> str:
    """Say it without advice that cannot be followed here."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"the query needs more memory than the {memory_mb} MB it may use here"
    if isinstance(error, duckdb.PermissionException) and "LocalFileSystem" in str(error):
        place = str(error).partition("\n")[2].strip("\n")
        return f"queries can read the tables of the warehouse, no files\n\n{place}".strip()
    return str(error)


def _send(**message: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
