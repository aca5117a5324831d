"""Read a JSONL file line by line with Python, if DuckDB cannot read it as it is.

DuckDB reads nearly every file and is many times faster. It cannot read lone surrogates, a byte
order mark, or an object with the same field name twice, and its line numbers are not reliable. So
this module reads only the files with lines that the staging models could not use. It either names
those lines exactly, or writes a copy of the file that DuckDB can read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.errors import LinesError
from collector.jsonl import last_line
from collector.keys import COLLECTOR_PREFIXES, ROLLOUT, TASK, whole_number

Row = dict[str, Any]
SHOWN = 10
BOM = b"\xef\xbb\xbf"
TAIL_BYTES = 1 << 20
EXTRA = "Extra data"


@dataclass
class BadLines:
    """The lines of one file that nobody can use: how many, and the first few."""

    path: Path
    count: int = 0
    first: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    is_torn: bool = False

    def add(self, number: int, reason: str) -> None:
        """Count one more line, and keep what is wrong with it if it is among the first."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(f"{self.path}:{number}: {reason}")
            self.numbers.append(number)

    def error(self) -> LinesError:
        """Say how many lines are bad, which are the first, and what to do."""
        noun = "line" if self.count == 1 else "lines"
        more = f"\n  … and {self.count - SHOWN} more" if self.count > SHOWN else ""
        shown = "\n  ".join(self.first)
        message = (
            f"{self.count} {noun} of {self.path} cannot be used\n  {shown}{more}\n"
            f"  what to do: correct or remove the {noun}, then profile again"
        )
        if self.is_torn:
            message += (
                "\n  an unfinished last line of rollouts counts as missing with --allow-partial"
            )
        return LinesError(message, count=self.count, numbers=self.numbers)


class _UnusableError(ValueError):
    """A line that is not a row of an artifact; the message says why."""


def rewrite(source: Path, target: Path, *, keep: Callable[[Row], Row], skip_torn: bool) -> None:
    """Write the fields that staging needs to a file that DuckDB can read.

    Raise LinesError if lines are bad; `skip_torn` tolerates an unfinished last line.
    """
    bad = BadLines(source)
    with target.open("w", encoding="utf-8", newline="\n") as out:
        for number, line, is_torn in _numbered_lines(source):
            try:
                out.write(_rewrite_line(line, keep) + "\n")
            except _UnusableError as problem:
                if not (is_torn and skip_torn):
                    bad.add(number, f"{problem}{' (unfinished last line)' if is_torn else ''}")
                    bad.is_torn |= is_torn
    if bad.count:
        raise bad.error()


def unfinished_line(path: Path) -> bytes | None:
    """Return the last line if no newline ends it and it is only the beginning of an object."""
    last = last_line(path).removeprefix(BOM)
    # after a crash, the file system may have filled the end of a line with zeros
    begun = last.strip().rstrip(b"\0")
    if not last.strip() or not b"{".startswith(begun[:1]):
        return None
    try:
        _row(last, with_indices=False)
    except (_UnusableError, RecursionError) as error:
        return None if EXTRA in str(error) else last
    return None


def has_content(path: Path) -> bool:
    """Tell whether a file contains more than white space."""
    with path.open("rb") as file:
        return any(chunk.strip() for chunk in iter(lambda: file.read(TAIL_BYTES), b""))


def scalar_fields(path: Path) -> list[str]:
    """Return the names of the texts, numbers and booleans in the first row, without the indices."""
    for _, line, _ in _numbered_lines(path):
        row = _row(line)
        return [
            name
            for name, value in row.items()
            if isinstance(value, (str, int, float)) and not name.startswith(COLLECTOR_PREFIXES)
        ]
    return []


def rollout_row(row: Row) -> Row:
    """Keep the fields of a rollout that staging reads; of the response, only five of its fields.

    NaN and Infinity stay in the metrics, because the models count them. Elsewhere null replaces
    them.
    """
    kept: Row = {
        name: value if isinstance(value, float) else _finite(value)
        for name, value in row.items()
        if name not in ("responses_create_params", "response")
    }
    response = row.get("response")
    if isinstance(response, dict):
        kept["response"] = {
            name: _finite(response[name])
            for name in ("model", "status", "incomplete_details", "output")
            if name in response
        }
        usage = response.get("usage")
        if isinstance(usage, dict):
            kept["response"]["usage"] = {
                name: value if isinstance(value, float) else _finite(value)
                for name, value in usage.items()
            }
    return kept


def finite_row(row: Row) -> Row:
    """Keep the whole row, with null in place of NaN and Infinity, which are not valid JSON."""
    return {name: _finite(value) for name, value in row.items()}


def failure_row(row: Row) -> Row:
    """Keep the scalar fields of a failed attempt, and its `agent_ref`."""
    return {
        name: value
        for name, value in row.items()
        if name == "agent_ref" or not isinstance(value, (dict, list))
    }


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(BOM) if number == 1 else line
            if text.strip():
                yield number, text, not line.endswith(b"\n")


def _rewrite_line(line: bytes, keep: Callable[[Row], Row]) -> str:
    try:
        text = json.dumps(keep(_row(line)), ensure_ascii=False)
    except RecursionError as error:
        raise _UnusableError("nested too deeply") from error
    # half of a surrogate pair is not a character, and DuckDB refuses it: U+FFFD replaces it
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _row(line: bytes, *, with_indices: bool = True) -> Row:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _UnusableError(f"not UTF-8 (byte {error.start + 1})") from error
    except json.JSONDecodeError as error:
        raise _UnusableError(f"not JSON: {error.msg} (column {error.colno})") from error
    except ValueError as error:  # an integer with more digits than Python converts
        raise _UnusableError(f"not readable: {error}") from error
    if not isinstance(row, dict):
        raise _UnusableError("not an object")
    for name in (TASK, ROLLOUT) if with_indices else ():
        if whole_number(row.get(name)) is None:
            raise _UnusableError(f"no {name}" if name not in row else f"{name} is not an integer")
    return row


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return value
