"""Write the files of an imported run, all of them or none."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from collector.artifacts import (
    RunArtifacts,
)
from collector.atomic_files import Check, Drafts
from collector.errors import InvariantError
from collector.importing.attempts import Attempt, Expected, Identity, Json
from collector.importing.encoding import encode_row
from collector.importing.rows import RowMaker, finite
from collector.jsonl import parse_object
from collector.keys import MAX_ROLLOUT, Key, Keys

MAX_MISSING = 1_000_000


class EmptyLogError(Exception):
    """A log has neither attempts nor a word of attempts that were to be made."""


class ImportFiles(RunArtifacts):
    """The files of an imported run."""

    def all(self) -> list[Path]:
        """Return every file that an import writes or replaces; the rollouts last."""
        return [self.inputs, self.failures, self.record, self.aggregate, self.rollouts]


@dataclass
class ImportCounts:
    """What was written of a run."""

    task_count: int = 0
    rollout_count: int = 0
    missing_count: int = 0
    unscored_count: int = 0
    """Rollouts without a reward, although they neither failed nor are masked."""
    masked: Counter[str] = field(default_factory=Counter)
    """Rollouts whose reward the framework calls invalid, by kind."""
    failures: Counter[str] = field(default_factory=Counter)
    """Failed attempts by kind."""
    failed_count: int = 0
    """Rollouts that have failed attempts and no result."""
    agents: Counter[str] = field(default_factory=Counter)


class RunWriter:
    """Writes the rows of one run as drafts, and keeps of each task only where its row is."""

    def __init__(self, files: ImportFiles, identity: Identity, drafts: Drafts, may: Check) -> None:
        """Prepare to write; `may` tells which files may be replaced."""
        self.files = files
        self.counts = ImportCounts()
        self._maker = RowMaker(identity)
        self._drafts = drafts
        self._may = may
        self._open_files = ExitStack()
        self._tasks: dict[str, int] = {}
        self._places = (array("Q"), array("Q"))
        """Where the first input row of each task begins, and how long it is."""
        self._offset = 0
        self._asked = Keys()
        self._lost: set[Key] = set()
        """Rollouts that failed and have no result so far: all others that were asked have one."""
        self._failed: Counter[Key] = Counter()
        self._failures: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Open the drafts of inputs and rollouts."""
        self._inputs = self._open(self.files.inputs)
        self._rollouts = self._open(self.files.rollouts)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the drafts; they are published later, with those of other runs."""
        self._open_files.__exit__(kind, error, traceback)

    def add(self, attempt: Attempt) -> None:
        """Write an attempt; raise InvariantError if the run has a result of it already."""
        key = self._key(attempt.task, attempt.rollout)
        is_new = self._asked.add(key)
        if is_new:
            self._write_input(self._maker.input_row(attempt, key), key)
            self.counts.agents[self._maker.agent_name(attempt)] += 1
        if attempt.failure:
            if is_new:
                self._lost.add(key)
            self._add_failure(attempt, key)
            return
        if not is_new and key not in self._lost:
            raise InvariantError(
                f"the logs have rollout {attempt.rollout} of task {attempt.task} twice\n"
                "  what to do: name only the logs of one run"
            )
        self._lost.discard(key)
        self._write(self._rollouts, self._maker.rollout_row(attempt, key))
        self.counts.rollout_count += 1
        if attempt.mask:
            self.counts.masked[attempt.mask.kind] += 1
        else:
            self.counts.unscored_count += finite(attempt.reward) is None

    def expect(self, expected: Expected) -> None:
        """Write the input of an attempt that the log does not have."""
        key = self._key(expected.task, expected.rollout)
        if self._asked.add(key):
            row = self._maker.missing_row(expected, key, self._known_row(key[0]))
            self._write_input(row, key)
            self.counts.missing_count += 1
            if self.counts.missing_count > MAX_MISSING:
                raise InvariantError(
                    f"by the log's own counts, more than {MAX_MISSING:,} attempts are missing: the"
                    " counts are damaged"
                )

    def finish(self) -> ImportCounts:
        """Return the counts; raise EmptyLogError if the log has no attempts at all."""
        if not self._asked.count:
            raise EmptyLogError
        self.counts.task_count = len(self._tasks)
        self.counts.failed_count = len(self._lost)
        return self.counts

    def write_record(self, content: bytes) -> None:
        """Write the record of the import."""
        with self._drafts.open(self.files.record, replaces=self._may) as file:
            file.write(content)

    def _open(self, path: Path) -> BinaryIO:
        return self._open_files.enter_context(self._drafts.open(path, replaces=self._may))

    def _key(self, task: str, rollout: int) -> Key:
        if not 0 <= rollout < MAX_ROLLOUT:
            raise InvariantError(f"task {task} has a rollout with the number {rollout}")
        return self._tasks.setdefault(task, len(self._tasks)), rollout

    def _add_failure(self, attempt: Attempt, key: Key) -> None:
        assert attempt.failure
        self._failures = self._failures or self._open(self.files.failures)
        row = self._maker.failure_row(attempt, key, self._failed[key])
        self._failed[key] += 1
        self.counts.failures[row["_ng_failure_class"]] += 1
        self._write(self._failures, row)

    def _write_input(self, row: Json, key: Key) -> None:
        size = self._write(self._inputs, row)
        offsets, sizes = self._places
        if key[0] == len(offsets):  # tasks are numbered in the order in which they come
            offsets.append(self._offset)
            sizes.append(size)
        self._offset += size

    def _known_row(self, task: int) -> Json | None:
        """Return the input row of another attempt at the same task."""
        offsets, sizes = self._places
        if task >= len(offsets):
            return None
        self._inputs.flush()
        return parse_object(os.pread(self._inputs.fileno(), sizes[task], offsets[task]))

    @staticmethod
    def _write(file: BinaryIO, row: Json) -> int:
        line = encode_row(row)
        file.write(line)
        return len(line)


def writable(files: list[ImportFiles], *, overwrite: bool) -> Callable[[Path], bool]:
    """Return the check whether a draft may replace a file: one of an earlier run, if allowed."""
    known = {path for one in files for path in one.all()}
    return lambda path: overwrite and path in known
