"""Reads the rollouts of one run, which may have several files: those of its shards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collector.artifacts import rollouts_files
from collector.errors import FileError
from collector.stored_rollouts import StoredRollout
from collector.viewer.transcripts.files import NotReadyError, Transcripts


class RunTranscripts:
    """Reads the rollouts of a run from whichever of its files has them."""

    def __init__(self, transcripts: Transcripts, run: Mapping[str, Any]) -> None:
        """Create a reader for a row of the mart `runs`."""
        self._transcripts = transcripts
        self.files: list[Path] = rollouts_files(run["rollouts_path"])

    def start(self) -> None:
        """Index the files in the background that are not indexed yet, the first one first."""
        for path in reversed(self.files):
            if self._transcripts.state(path).kind == "building":
                self._transcripts.start(path)

    def build(self) -> None:
        """Index the files now that are not indexed yet; raise FileError if that fails."""
        for path in self.files:
            self._transcripts.build(path)

    def read(self, task: int, rollout: int) -> StoredRollout:
        """Return a rollout; raise NotReadyError while a file is indexed that may have it.

        Raise FileError if no file has the rollout, or the file that may have it cannot be read.
        """
        unread: list[FileError | NotReadyError] = []
        for path in self.files:
            try:
                return self._transcripts.read(path, task, rollout)
            except (FileError, NotReadyError) as error:
                unread.append(error)
        raise min(unread, key=_rank)


def _rank(error: FileError | NotReadyError) -> int:
    """Return which error to report: that of a file which may have the rollout comes first."""
    if isinstance(error, NotReadyError):
        return 0
    return 2 if "has no rollout" in str(error) else 1
