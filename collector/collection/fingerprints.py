"""Compare rows to run by content, whatever the order of rows and fields."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from collector.collection.requests import ABSENT
from collector.collection.routing import AGENT
from collector.collection.row_params import PARAMS
from collector.collection.rows import numbered_lines
from collector.errors import FileError
from collector.jsonl import dump, parse_object
from collector.keys import Keys, row_key

Row = dict[str, Any]
BITS = 1 << 256
PARAM_SETTINGS = {
    "input": "input_jsonl_fpath or prompt_config",
    "metadata": f"num_repeats_add_seed or {PARAMS}",
}


class Fingerprint(io.RawIOBase):
    """A file that keeps only a sum of the hashes of its lines, and one of its rows."""

    def __init__(self, begun: Fingerprint | None = None) -> None:
        """Start without a line; leave out the rollouts that `begun` does not have."""
        super().__init__()
        self.keys = Keys()
        self.new_count = 0
        """Rollouts that were left out."""
        self.sample: Row = {}
        """The first row, or the one with the same key as the sample of `begun`."""
        self._begun = begun
        self._sum = 0

    def write(self, line: Any) -> int:
        """Add one whole line."""
        row = parse_object(bytes(line))
        key = row_key(row)
        if self._begun and key not in self._begun.keys:
            self.new_count += 1
            return len(line)
        if key == row_key(self._begun.sample if self._begun else self.sample or row):
            self.sample = row
        self.keys.add(key)
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(_canonical(row)).digest())) % BITS
        return len(line)

    def has_rows_of(self, begun: Fingerprint) -> bool:
        """Tell whether this has every row of `begun`, which it was made with."""
        return (self.keys.count, self._sum) == (begun.keys.count, begun._sum)


def fingerprint_of(path: Path) -> Fingerprint:
    """Return the fingerprint of materialized inputs."""
    fingerprint = Fingerprint()
    for number, line in numbered_lines(path):
        if line.strip():
            try:
                fingerprint.write(line)
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from error
    return fingerprint


def changed_settings(begun: Fingerprint, rows: Fingerprint) -> Iterator[str]:
    """Yield the settings for which the rows of a run would not be those of now."""
    if rows.keys.task_count < begun.keys.task_count:
        tasks = f"it had {begun.keys.task_count:,} tasks, now {rows.keys.task_count:,}"
        yield f"limit or input_jsonl_fpath: {tasks}; tasks can only be added"
    elif rows.keys.count < begun.keys.count:
        rollouts = f"it had {begun.keys.count:,} rollouts, now {rows.keys.count:,} of them"
        yield f"num_repeats: {rollouts}; repeats can only be added"
    if rows.sample:
        old, new = _fields(begun.sample), _fields(rows.sample)
        for setting, name in sorted(old.keys() | new.keys()):
            if old.get((setting, name), ABSENT) != new.get((setting, name), ABSENT):
                yield f"{setting}: the rows of the run have another {name}"


def _canonical(row: Row) -> bytes:
    """Return a row as bytes, without the fields that other versions write differently."""
    kept = _comparable(row)
    try:
        return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # half of a surrogate pair, or a number beyond 64 bits
        return dump(dict(sorted(kept.items())))


def _comparable(row: Row) -> Row:
    reference = row.get(AGENT)
    name = reference.get("name") if isinstance(reference, dict) else None
    return {key: value for key, value in row.items() if key != "skills_ref"} | {AGENT: name}


def _fields(row: Row) -> dict[tuple[str, str], Any]:
    """Return the fields of a row and each of its parameters, by the setting and their name."""
    fields = _comparable(row)
    params = fields.pop(PARAMS, None)
    own = {
        ("agent_name" if name == AGENT else "input_jsonl_fpath", name): value
        for name, value in fields.items()
    }
    inner = params if isinstance(params, dict) else {}
    return own | {(PARAM_SETTINGS.get(name, PARAMS), name): inner[name] for name in inner}
