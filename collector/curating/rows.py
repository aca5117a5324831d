"""The rows that a recipe chose, on their way to a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CuratedRow:
    """A task that a recipe chose."""

    task_index: int
    task_id: str
    row: bytes
    """The original input row: one JSON object, without a newline."""
    annotation: dict[str, object] | None
    """What `--annotate` adds about the task."""
