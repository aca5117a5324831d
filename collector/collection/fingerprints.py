"""Compare rows to run by content, whatever the order of rows and fields."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import orjson

from collector.collection.routing import AGENT
from collector.collection.rows import numbered_lines
from collector.errors import FileError
from collector.jsonl import dump, parse_object

Row = dict[str, Any]
BITS = 1 << 256


class Fingerprint(io.RawIOBase):
    """A file that keeps only a sum of the hashes of its lines."""

    def __init__(self) -> None:
        """Start without a line."""
        super().__init__()
        self.value = (0, 0)

    def write(self, line: Any) -> int:
        """Add one whole line."""
        count, total = self.value
        digest = hashlib.sha256(_canonical(parse_object(bytes(line)))).digest()
        self.value = count + 1, (total + int.from_bytes(digest)) % BITS
        return len(line)


def fingerprint_of(path: Path) -> tuple[int, int]:
    """Return the fingerprint of materialized inputs."""
    fingerprint = Fingerprint()
    for number, line in numbered_lines(path):
        if line.strip():
            try:
                fingerprint.write(line)
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from error
    return fingerprint.value


def _canonical(row: Row) -> bytes:
    """Return a row as bytes, without the fields that other versions write differently."""
    reference = row.get(AGENT)
    name = reference.get("name") if isinstance(reference, dict) else None
    kept = {key: value for key, value in row.items() if key != "skills_ref"} | {AGENT: name}
    try:
        return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # half of a surrogate pair, or a number beyond 64 bits
        return dump(dict(sorted(kept.items())))
