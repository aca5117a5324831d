"""The stored rollouts to verify again: which ones, and where their lines are."""

from __future__ import annotations

import bisect
import contextlib
import hashlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.collection.failure_kinds import JUDGE_FAILED, failure_class_of
from collector.collection.problems import LineProblems
from collector.collection.rows import Listener, numbered_lines
from collector.errors import FileError
from collector.jsonl import parse_object
from collector.keys import Key, Keys, row_key

Row = dict[str, Any]
Find = Callable[[Key], bytes | None]


class LineIndex:
    """Finds the line of a rollout in a file; takes 28 bytes of memory per line."""

    def __init__(self, path: Path) -> None:
        """Start without a line of the file."""
        self.path = path
        self._tasks, self._rollouts, self._offsets = array("q"), array("i"), array("q")
        self._order = array("q")

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._offsets)

    def add(self, key: Key, offset: int) -> None:
        """Note where the line of a rollout begins."""
        self._tasks.append(key[0])
        self._rollouts.append(key[1])
        self._offsets.append(offset)

    def find(self, key: Key) -> int | None:
        """Return where the line of a rollout begins, or None if the file has none."""
        if len(self._order) != len(self):
            self._order = array("q", sorted(range(len(self)), key=self._key))
        place = bisect.bisect_left(self._order, key, key=self._key)
        if place == len(self) or self._key(self._order[place]) != key:
            return None
        return self._offsets[self._order[place]]

    def _key(self, number: int) -> Key:
        return self._tasks[number], self._rollouts[number]


@dataclass
class StoredRollouts:
    """The rollouts to verify again, and those to carry over."""

    limit: int | None
    indices: list[LineIndex] = field(default_factory=list)
    """The lines to verify again, by file."""
    carried: Keys = field(default_factory=Keys)
    """The rollouts that keep their verdict."""
    sha256: str = ""
    """The hash of the rollouts file."""
    seen: Keys = field(default_factory=Keys)
    """All rollouts of the files, also those beyond the limit."""

    @property
    def count(self) -> int:
        """Return how many rollouts are to be verified again."""
        return sum(map(len, self.indices))

    def has(self, key: Key) -> bool:
        """Tell whether a rollout is part of the new run."""
        return key in self.carried or any(index.find(key) is not None for index in self.indices)

    @contextlib.contextmanager
    def open(self) -> Iterator[Find]:
        """Yield a function that returns the line of a rollout to verify again, or None."""
        with contextlib.ExitStack() as stack:
            files = [(index, stack.enter_context(index.path.open("rb"))) for index in self.indices]

            def find(key: Key) -> bytes | None:
                for index, file in files:
                    if (offset := index.find(key)) is not None:
                        file.seek(offset)
                        return _check_line(file.readline(), key, index.path)
                return None

            yield find

    def take(self, index: LineIndex, key: Key, offset: int) -> None:
        """Have a rollout verified again, unless the limit is reached."""
        if self.limit is None or self.count < self.limit:
            index.add(key, offset)


def read_stored(
    rollouts: Path,
    failures: Path,
    listener: Listener,
    *,
    limit: int | None = None,
    judge_failed_only: bool = False,
) -> StoredRollouts:
    """Read which rollouts to verify again; raise LinesError if a line cannot be used.

    With `judge_failed_only`, these are the failed attempts of that class, and the rollouts that
    were masked for that reason; the other rollouts are carried over.
    """
    stored = StoredRollouts(limit)

    def note_rollout(row: Row, index: LineIndex, offset: int) -> None:
        key = row_key(row)
        if not stored.seen.add(key):
            raise ValueError("a rollout that an earlier line has")
        if judge_failed_only and not _is_masked_by_judge(row):
            stored.carried.add(key)
        else:
            stored.take(index, key, offset)

    def note_failure(row: Row, index: LineIndex, offset: int) -> None:
        key = row_key(row)
        if failure_class_of(row) == JUDGE_FAILED and stored.seen.add(key):
            stored.take(index, key, offset)

    stored.sha256 = _scan(rollouts, note_rollout, stored, listener)
    if judge_failed_only and failures.exists():
        _scan(failures, note_failure, stored, listener)
    return stored


def _scan(
    path: Path,
    note: Callable[[Row, LineIndex, int], None],
    stored: StoredRollouts,
    listener: Listener,
) -> str:
    """Note every line of a file, and return the hash of the file."""
    index, digest, offset = LineIndex(path), hashlib.sha256(), 0
    stored.indices.append(index)
    problems = LineProblems(path, next_step="then verify again")
    for number, line in numbered_lines(path, listener):
        digest.update(line)
        if line.strip():
            try:
                note(parse_object(line), index, offset)
            except ValueError as error:
                problems.add(number, str(error))
        offset += len(line)
    problems.raise_any()
    return digest.hexdigest()


def _is_masked_by_judge(row: Row) -> bool:
    return bool(row.get("mask_sample")) and row.get("failure_kind") == JUDGE_FAILED


def _check_line(line: bytes, key: Key, path: Path) -> bytes:
    try:
        if row_key(parse_object(line)) == key:
            return line.strip()
    except ValueError:
        pass
    raise FileError(f"{path} was changed while its rollouts were verified again")
