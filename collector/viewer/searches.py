"""Searches in what rollouts say; large files are indexed in another process first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from collector.errors import FileError
from collector.keys import Key
from collector.rollout_lines import stat_rollouts
from collector.viewer.background import PATIENCE_SECONDS, BackgroundWork, WaitingError
from collector.viewer.transcripts.text_index import FoundRollouts, TextIndex
from collector.viewer.transcripts.text_worker import request_line, worker_command

SMALL_BYTES = 16 << 20
WAITING = (
    "Spotter is reading {} once, to search in what the rollouts say. Until then, the search covers"
    " only the answers. This page updates by itself."
)
TOO_MANY = "The first {:,} rollouts of the file that say this; there are more."
KEPT = 8


@dataclass(frozen=True)
class SearchResult:
    """The rollouts that a search has found, and what a page has to say about the search."""

    query: str = ""
    keys: Sequence[Key] = ()
    note: str = ""
    is_waiting: bool = False


@dataclass(frozen=True)
class FileVersion:
    """A rollouts file in the state that an index describes."""

    path: Path
    size: int
    mtime_ns: int


@dataclass
class Searches:
    """Finds the rollouts that say something, and keeps the latest answers."""

    folder: Path
    """Where the indexes are."""
    patience_seconds: float = PATIENCE_SECONDS
    """How long a page waits for an index before it says so."""
    _found: OrderedDict[tuple[FileVersion, str], FoundRollouts] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Prepare to index."""
        self._work = BackgroundWork[FileVersion, None](
            self._index, "the rollouts could not be indexed"
        )

    def search(self, files: Sequence[Path], query: str) -> SearchResult:
        """Return the rollouts of a run's files whose model says something, for a page to show."""
        if not query:
            return SearchResult()
        keys: list[Key] = []
        is_cut = False
        for path in files:
            try:
                found = self.find(path, query)
            except WaitingError:
                return SearchResult(query, note=WAITING.format(path.name), is_waiting=True)
            except FileError as error:
                return SearchResult(query, note=f"The search covers only the answers: {error}")
            keys += found.keys
            is_cut = is_cut or found.is_cut
        return SearchResult(query, keys, TOO_MANY.format(len(keys)) if is_cut else "")

    def find(self, rollouts: Path, query: str) -> FoundRollouts:
        """Return the rollouts of a file whose model says something.

        Raise WaitingError if the file is not indexed yet, and FileError if it cannot be read.
        """
        status = stat_rollouts(rollouts)
        version = FileVersion(rollouts.absolute(), status.st_size, status.st_mtime_ns)
        with self._lock:
            known = self._found.get((version, query))
        if known:
            return known
        index = TextIndex(rollouts, self.folder)
        pending = index.pending_bytes()
        if pending >= SMALL_BYTES:
            self._work.result(version, self.patience_seconds)
        elif pending:
            index.update(lambda _done, _total: None)
        found = index.find(query)
        with self._lock:
            self._found[version, query] = found
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        return found

    def close(self) -> None:
        """Stop indexing."""
        self._work.close()

    def _index(self, version: FileVersion) -> None:
        self._work.run_worker(worker_command(), request_line(TextIndex(version.path, self.folder)))
