"""Write JSON whatever a log contains: numbers that are not finite become null."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from collector.errors import FileError
from collector.importing.attempts import Json
from collector.jsonl import dump


def encode_row(row: Json) -> bytes:
    """Return a row as one line of JSON; raise FileError if it is nested too deeply."""
    try:
        return dump(row) + b"\n"
    except ValueError:
        pass
    try:
        return dump(_finite(row)) + b"\n"
    except (ValueError, RecursionError) as error:
        raise FileError(f"an attempt of the log cannot be written as JSON: {error}") from error


def encode_document(value: Json) -> bytes:
    """Return an object as indented JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
    except TypeError:  # half of a surrogate pair, or an integer beyond 64 bits
        return json.dumps(_finite(value), indent=2).encode() + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
