"""Assign input rows to tasks, and rollout indices to their repeats."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

from collector.collection.problems import UnusableRowError
from collector.keys import MAX_ROLLOUT, TASK, index_of

Row = dict[str, Any]


class TaskIndices:
    """The tasks of one input file: identical rows share one, and a row may bring its own index."""

    def __init__(self) -> None:
        """Start without a task."""
        self._by_content: dict[bytes, int] = {}
        self._counts = array("Q")
        self._own: dict[int, tuple[bytes, int]] = {}
        self._own_counts: Counter[int] = Counter()
        self.mixed_lines: list[int] = []
        """Lines that share their own task index with a different line."""

    @property
    def count(self) -> int:
        """Return how many tasks there are so far."""
        return len(self._counts) + len(self._own)

    def stamp(self, row: Row, number: int, line: bytes) -> None:
        """Give a row its task index, or note its own; raise UnusableRowError if that is not one."""
        if TASK not in row:
            row[TASK] = self._index_of(line)
        elif (own := index_of(row, TASK)) is not None:
            self._note_own(own, number, line)
        else:
            raise UnusableRowError(f"{TASK} is not an index")

    def next_rollouts(self, index: int, repeats: int) -> range:
        """Return the indices of the next rollouts of a task."""
        counts: array[int] | Counter[int] = self._own_counts if index in self._own else self._counts
        first = counts[index]
        if first + repeats > MAX_ROLLOUT:
            raise UnusableRowError(f"its task has more than {MAX_ROLLOUT:,} rollouts")
        counts[index] = first + repeats
        return range(first, first + repeats)

    def collisions(self) -> Iterator[tuple[int, int]]:
        """Yield line and index of rows whose own index was also given to a row without one."""
        for index, (_, number) in self._own.items():
            if index < len(self._counts):
                yield number, index

    def _note_own(self, index: int, number: int, line: bytes) -> None:
        content = _digest(line)
        first, _ = self._own.setdefault(index, (content, number))
        if first != content:
            self.mixed_lines.append(number)

    def _index_of(self, line: bytes) -> int:
        index = self._by_content.setdefault(_digest(line), len(self._counts))
        if index == len(self._counts):
            self._counts.append(0)
        return index


def _digest(line: bytes) -> bytes:
    return hashlib.sha1(line).digest()  # the fastest hash that still separates rows
