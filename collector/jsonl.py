"""Parse and write single lines of JSON, and find an unfinished last line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import orjson

Row = dict[str, Any]
TAIL_BYTES = 1 << 20
# maps each digit to 0 and all else to blanks: twenty times as fast as a regular expression
DIGITS = bytes(ord("0") if chr(code).isdigit() and code < 128 else ord(" ") for code in range(256))
LONG_NUMBER = b"0" * 19


SIGNATURES = {
    b"\x1f\x8b": "gzip: decompress it with gunzip",
    b"\x28\xb5\x2f\xfd": "zstd: decompress it with unzstd",
    b"\xfd7zXZ\x00": "xz: decompress it with unxz",
    b"BZh": "bzip2: decompress it with bunzip2",
    b"PK\x03\x04": "zip: decompress it with unzip",
    b"\xff\xfe": "UTF-16: convert it to UTF-8, as with iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16: convert it to UTF-8, as with iconv -f UTF-16 -t UTF-8",
    b"{\x00": "UTF-16: convert it to UTF-8, as with iconv -f UTF-16LE -t UTF-8",
    b"\x00{": "UTF-16: convert it to UTF-8, as with iconv -f UTF-16BE -t UTF-8",
}
"""How files begin that do not contain lines of JSON, with the name of the format and its cure."""
# JSON has no bare CR in a text, so this can only be the end of a line
CR_LINES = re.compile(rb"\}[ \t]*\r[ \t]*\{")
CR = r"CR line ends: convert them, as with tr '\r' '\n'"


def foreign_format(path: Path) -> str | None:
    """Return what a file looks like that has no lines of JSON, and what to do; None otherwise."""
    with path.open("rb") as file:
        head = file.read(TAIL_BYTES)
    for signature, name in SIGNATURES.items():
        if head.startswith(signature):
            return name
    return CR if CR_LINES.search(head.partition(b"\n")[0]) else None


def parse_object(text: bytes) -> Row:
    """Parse a JSON object; raise ValueError with the reason if the text is not one."""
    try:
        # orjson turns an integer beyond 64 bits into a float, which loses digits
        value = _parse_slowly(text) if _has_long_number(text) else orjson.loads(text)
    except orjson.JSONDecodeError as error:
        value = _parse_slowly(text, error)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def read_object(text: bytes) -> Row:
    """Parse a JSON object that may contain NaN and Infinity, as Python writes them."""
    try:
        return parse_object(text)
    except ValueError:
        if b"NaN" not in text and b"Infinity" not in text:
            raise
    try:
        value = json.loads(text.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def dump(value: object) -> bytes:
    """Return data as one line of JSON without a newline; raise ValueError if it cannot be JSON."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # half of a surrogate pair, or an integer beyond 64 bits
        return _dump_slowly(value)


def last_line(path: Path) -> bytes:
    """Return the bytes after the last newline of a file: none if the file is complete."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while b"\n" not in tail and len(tail) < size:
            step = min(size, max(TAIL_BYTES, 2 * len(tail)))
            file.seek(size - step)
            tail = file.read(step)
    return tail.rpartition(b"\n")[2]


def _has_long_number(text: bytes) -> bool:
    return LONG_NUMBER in text.translate(DIGITS)


def _parse_slowly(text: bytes, reason: orjson.JSONDecodeError | None = None) -> Any:
    """Parse what orjson cannot, but models do write: half of a surrogate pair, long integers."""
    try:
        # json.loads would also accept UTF-16 bytes, but a line is UTF-8
        return json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = f"{reason.msg} (character {reason.pos + 1})" if reason else type(error).__name__
        raise ValueError(f"not JSON: {why}") from None


def _dump_slowly(value: object) -> bytes:
    options: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False}
    try:
        return json.dumps(value, ensure_ascii=False, **options).encode()
    except UnicodeEncodeError:
        return json.dumps(value, **options).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)
