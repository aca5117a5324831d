"""Walk through a JSON document of any size, and keep only the parts that somebody asks for.

A log can be one object of a gigabyte. The scanner reads it in pieces: it skips a value without
building it, and returns the text of a value that is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from collector.jsonl import read_object

CHUNK_BYTES = 1 << 20
KEY_BYTES = 1 << 20
MOST_VALUES = 500_000
SPACE = re.compile(rb"[ \t\r\n]*")
# up to the next bracket that is not part of a string; a string without its end stops the match
UP_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', re.DOTALL)
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
IN_STRING = re.compile(rb'[^"\\]*+')
SCALAR = re.compile(rb"[^ \t\r\n,\]}]*")


class JsonScanError(ValueError):
    """The document is not valid JSON, ends too early, or has a value beyond the limit."""


class LongValueError(JsonScanError):
    """A value has more bytes than it may have."""


class JsonScanner:
    """Reads one JSON document from a function that returns its next bytes, as `file.read` does.

    `members` and `elements` walk through an object or a list. At each step the caller may take the
    value with `value`, walk into it, or leave it: a value that is left is skipped.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """Take a function that returns up to so many bytes, and none at the end."""
        self._read = read
        self._buffer = b""
        self._at = 0
        self._before = 0
        self._is_pending = True
        """Whether the value at the current position has not been taken yet."""

    @property
    def position(self) -> int:
        """Return how many bytes of the document are behind the scanner."""
        return self._before + self._at

    def kind(self) -> str:
        """Return the first character of the value that comes next; empty at the end."""
        return self._peek().decode("latin-1")

    def members(self) -> Iterator[str]:
        """Walk through the object that comes next, and give the name of each member."""
        self._open(b"{")
        while self._peek() != b"}":
            name = self._key()
            self._expect(b":")
            self._is_pending = True
            yield name
            self._close_member(b"}")
        self._at += 1

    def elements(self) -> Iterator[int]:
        """Walk through the list that comes next, and give the number of each element."""
        self._open(b"[")
        number = 0
        while self._peek() != b"]":
            self._is_pending = True
            yield number
            number += 1
            self._close_member(b"]")
        self._at += 1

    def value(self, limit: int) -> bytes:
        """Return the text of the value that comes next; it may have at most `limit` bytes."""
        self._is_pending = False
        parts: list[bytes] = []
        self._take(parts, limit)
        return b"".join(parts)

    def parse(self, limit: int) -> Any:
        """Return the value that comes next as Python data, NaN and Infinity included."""
        return parse_value(self.value(limit))

    def skip(self) -> None:
        """Pass over the value that comes next."""
        self._is_pending = False
        self._take(None, 0)

    def finish(self) -> None:
        """Raise JsonScanError if anything follows the document."""
        if self._peek():
            raise JsonScanError(f"more text follows the end of the document at {self._place()}")

    def _open(self, bracket: bytes) -> None:
        self._is_pending = False
        self._expect(bracket)

    def _close_member(self, end: bytes) -> None:
        if self._is_pending:
            self.skip()
        found = self._peek()
        if found == b",":
            self._at += 1
            if self._peek() == end:
                raise JsonScanError(f"a value is missing at {self._place()}")
        elif found != end:
            raise JsonScanError(f"expected a comma at {self._place()}")

    def _key(self) -> str:
        if self._peek() != b'"':
            raise JsonScanError(f"expected a name in quotes at {self._place()}")
        return str(self.parse(KEY_BYTES))

    def _expect(self, byte: bytes) -> None:
        if self._peek() != byte:
            raise JsonScanError(f"expected {byte.decode()} at {self._place()}")
        self._at += 1

    def _place(self) -> str:
        return f"byte {self.position:,}" if self._peek() else "the end: the document is cut off"

    def _peek(self) -> bytes:
        """Return the next byte that is not white space; empty at the end."""
        while True:
            found = SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._refill():
                return b""

    def _refill(self) -> bool:
        """Read on; keep what is not consumed yet. Return False at the end of the document."""
        more = self._read(CHUNK_BYTES)
        self._before += self._at
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        return bool(more)

    def _advance(self, end: int, parts: list[bytes] | None, limit: int) -> None:
        if parts is not None and end > self._at:
            parts.append(self._buffer[self._at : end])
            self._check(parts, limit)
        self._at = end

    def _check(self, parts: list[bytes], limit: int) -> None:
        # the sum stays cheap: a part is a chunk, or lies between two brackets
        if len(parts) > 64:
            parts[:] = [b"".join(parts)]
        if sum(map(len, parts)) > limit:
            raise LongValueError(f"a value at byte {self.position:,} has more than {limit:,} bytes")

    def _take(self, parts: list[bytes] | None, limit: int) -> None:
        first = self._peek()
        if first in (b"{", b"["):
            self._take_nested(parts, limit)
        elif first == b'"':
            self._take_string(parts, limit)
        else:
            self._take_scalar(parts, limit)

    def _take_nested(self, parts: list[bytes] | None, limit: int) -> None:
        depth = 0
        while True:
            found = UP_TO_BRACKET.match(self._buffer, self._at)
            end = found.end() if found else self._at
            mark = self._buffer[end : end + 1]
            if mark in (b"{", b"["):
                depth += 1
            elif mark in (b"}", b"]"):
                depth -= 1
            elif mark == b'"':  # the end of this string is not in the buffer
                self._advance(end, parts, limit)
                self._take_string(parts, limit)
                continue
            self._advance(end + len(mark), parts, limit)
            if not mark and not self._refill():
                raise JsonScanError("the document is cut off")
            if mark and depth == 0:
                return

    def _take_string(self, parts: list[bytes] | None, limit: int) -> None:
        self._advance(self._at + 1, parts, limit)
        while True:
            found = IN_STRING.match(self._buffer, self._at)
            self._advance(found.end() if found else self._at, parts, limit)
            mark = self._buffer[self._at : self._at + 1]
            if mark == b'"':
                self._advance(self._at + 1, parts, limit)
                return
            if mark and len(self._buffer) - self._at > 1:
                self._advance(self._at + 2, parts, limit)
            elif not self._refill():
                raise JsonScanError("the document is cut off inside a text")

    def _take_scalar(self, parts: list[bytes] | None, limit: int) -> None:
        start = self.position
        while True:
            found = SCALAR.match(self._buffer, self._at)
            self._advance(found.end() if found else self._at, parts, limit)
            if self._at < len(self._buffer) or not self._refill():
                break
        if self.position == start:
            raise JsonScanError(f"a value is missing at {self._place()}")


def parse_value(text: bytes) -> Any:
    """Parse any JSON value, NaN and Infinity included.

    Raise ValueError if the text is not one, or has so many values that they would fill the memory.
    """
    check_value_count(text)
    return read_object(b'{"value":' + text + b"}")["value"]


def check_value_count(text: bytes) -> None:
    """Raise ValueError if a text has more values than fit into memory as Python's objects.

    An object of two characters takes hundreds of bytes there. The first look is cheap, but counts
    what is inside of strings, too; the second takes the strings out.
    """
    if _value_count(text) > MOST_VALUES and _value_count(STRING.sub(b"", text)) > MOST_VALUES:
        raise JsonScanError(f"a value has more than {MOST_VALUES:,} parts")


def _value_count(text: bytes) -> int:
    return sum(map(text.count, (b",", b"{", b"[")))
