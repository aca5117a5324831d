"""Lines of JSON: reading one that a server or another program wrote, finding an unfinished one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import orjson

Row = dict[str, Any]
TAIL_BYTES = 1 << 20


def parse_object(text: bytes) -> Row:
    """Return the object; raise ValueError with the reason if the text is none."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        value = _parse_slowly(text, error)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def dump(row: Row) -> bytes:
    """Return the row as one line without its end."""
    try:
        return orjson.dumps(row)
    except orjson.JSONEncodeError:  # half of a surrogate pair, or a number beyond 64 bits
        return json.dumps(row, separators=(",", ":"), allow_nan=False).encode()


def last_line(path: Path) -> bytes:
    """Return what stands behind the last newline of a file: nothing, if the file is whole."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while b"\n" not in tail and len(tail) < size:
            step = min(size, max(TAIL_BYTES, 2 * len(tail)))
            file.seek(size - step)
            tail = file.read(step)
    return tail.rpartition(b"\n")[2]


def _parse_slowly(text: bytes, reason: orjson.JSONDecodeError) -> Any:
    """Read what orjson refuses and models do write: half of a surrogate pair."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError(f"not JSON: {reason.msg} (character {reason.pos + 1})") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)
