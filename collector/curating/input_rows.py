"""Find the input rows of tasks in a run's materialized inputs, and take the collector's keys out.

Rows are never held in memory together: the first pass keeps where they are, and each is read when
it is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from collector.errors import FileError, InvariantError
from collector.keys import ROLLOUT, TASK

Key = tuple[int, int]
Span = tuple[int, int]
"""Where a line begins, and its length."""
BUFFER_BYTES = 1 << 20
REPORTED_LINES = 20_000
OWN_PREFIX = b'"_ng_'
# Both keys at the end of a line: the last brace closes the row itself, so the keys are its own.
LAST_KEYS = re.compile(
    rb',\s*"_ng_task_index"\s*:\s*(\d+)\s*,\s*"_ng_rollout_index"\s*:\s*(\d+)\s*\}\s*$'
)
TAIL_BYTES = 120
SPACE = re.compile(r"\s*")
DECODER = json.JSONDecoder(parse_float=str, parse_int=str)


class InputRows:
    """The lines of the wanted rollouts in a file of materialized inputs."""

    def __init__(
        self, path: Path, wanted: set[Key], *, progress: Callable[[int, int, str], None]
    ) -> None:
        """Find the lines; raise InvariantError if one is missing: the file was changed."""
        self.path = path
        try:
            self._spans = self._find(wanted, _last_keys_or_parsed, progress)
            if len(self._spans) < len(wanted):  # a row inside of a row may look like its end
                self._spans = self._find(wanted, _parsed_keys, progress)
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}") from error
        if missing := sorted(wanted - self._spans.keys()):
            raise InvariantError(
                f"{path}: no line for {len(missing)} of {len(wanted)} tasks, the first is task"
                f" {missing[0][0]}\n  what to do: profile the run again, the file was changed"
            )

    def _find(
        self,
        wanted: set[Key],
        keys_of: Callable[[bytes], Key | None],
        progress: Callable[[int, int, str], None],
    ) -> dict[Key, Span]:
        spans: dict[Key, Span] = {}
        offset, size = 0, self.path.stat().st_size
        with self.path.open("rb", buffering=BUFFER_BYTES) as file:
            for number, line in enumerate(file):
                if (key := keys_of(line)) in wanted and key is not None:
                    spans.setdefault(key, (offset, len(line)))
                offset += len(line)
                if number % REPORTED_LINES == 0:
                    progress(offset, size, self.path.name)
        return spans

    def open(self) -> BinaryIO:
        """Open the file for `read`."""
        return self.path.open("rb")

    def read(self, file: BinaryIO, key: Key) -> bytes:
        """Return the row of a rollout without the collector's keys, otherwise byte for byte."""
        offset, length = self._spans[key]
        line = os.pread(file.fileno(), length, offset).strip()
        found = LAST_KEYS.search(line, max(0, len(line) - TAIL_BYTES))
        known = (int(found[1]), int(found[2])) if found else _parsed_keys(line)
        if known != key:
            raise InvariantError(f"{self.path} has changed while it was read\n  nothing is written")
        return without_own_keys(line, found)


def _last_keys_or_parsed(line: bytes) -> Key | None:
    """Return the keys of a line: from its end if they are there, which is fast."""
    if found := LAST_KEYS.search(line, max(0, len(line) - TAIL_BYTES)):
        return int(found[1]), int(found[2])
    return _parsed_keys(line)


def _parsed_keys(line: bytes) -> Key | None:
    try:
        row = orjson.loads(line)
        return row[TASK], row[ROLLOUT]
    except (ValueError, TypeError, KeyError):
        return None


def without_own_keys(line: bytes, found: re.Match[bytes] | None) -> bytes:
    """Return a row without the fields whose names begin with `_ng_`; all other bytes stay.

    `found` is the match of LAST_KEYS in the line, if there is one.
    """
    if found:
        head = line[: found.start()]
        if OWN_PREFIX not in head:
            return head + b"}"
    text = line.decode()
    members = list(_members(text))
    starts = [start for _, start, _ in members[1:]]
    kept, gap = "", ""
    for (name, start, end), next_start in zip(members, [*starts, len(text)], strict=True):
        if not name.startswith("_ng_"):
            kept += gap + text[start:end]
            gap = text[end:next_start]
    return ("{" + kept + "}").encode()


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name and the place of each member of a JSON object, without the commas."""
    position = _skip(text, 0) + 1
    while text[position := _skip(text, position)] != "}":
        name, end = DECODER.raw_decode(text, position)
        value_start = _skip(text, _skip(text, end) + 1)
        _, value_end = DECODER.raw_decode(text, value_start)
        yield name, position, value_end
        position = _skip(text, value_end)
        if text[position] == ",":
            position += 1


def _skip(text: str, position: int) -> int:
    """Return the place of the next character that is not white space."""
    found = SPACE.match(text, position)
    return found.end() if found else position


def add_annotation(row: bytes, annotation: dict[str, Any]) -> bytes:
    """Return a row with one more field, `spotter`; raise InvariantError if the row has it."""
    if b'"spotter"' in row and "spotter" in orjson.loads(row):
        raise InvariantError(
            "a row has a field `spotter` already, which --annotate would repeat\n"
            "  what to do: leave out --annotate, or rename the field"
        )
    body = row.rstrip()[:-1].rstrip()
    comma = b"" if body.endswith(b"{") else b","
    return body + comma + b'"spotter":' + orjson.dumps(annotation) + b"}"
