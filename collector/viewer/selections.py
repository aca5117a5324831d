"""Chooses tasks for the Curate page, in another process, and keeps the latest answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from collector.curating.worker import SelectionRequest, worker_command
from collector.viewer.background import PATIENCE_SECONDS, BackgroundWork


@dataclass(frozen=True)
class SelectionKey:
    """What a selection depends on: a run that is profiled again is read again."""

    request: SelectionRequest
    profiled_at: datetime


@dataclass
class Selections:
    """Chooses tasks of the runs of a warehouse, one recipe at a time; it writes nothing."""

    warehouse: Path
    patience_seconds: float = PATIENCE_SECONDS
    """How long a page waits for an answer before it says so."""

    def __post_init__(self) -> None:
        """Prepare to choose."""
        self._work = BackgroundWork[SelectionKey, dict[str, Any]](
            self._choose, "the tasks could not be chosen"
        )

    def read(self, key: SelectionKey) -> dict[str, Any]:
        """Return what a recipe makes of a run.

        Raise WaitingError if the answer is not ready yet, and FileError if choosing fails.
        """
        return self._work.result(key, self.patience_seconds)

    def close(self) -> None:
        """Stop choosing."""
        self._work.close()

    def _choose(self, key: SelectionKey) -> dict[str, Any]:
        printed = self._work.run_worker(worker_command(), key.request.line(self.warehouse))
        answer: dict[str, Any] = orjson.loads(printed)
        return answer
