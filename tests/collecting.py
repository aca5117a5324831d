"""Collect in this process, and read what was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collector.collection.collect import collect
from collector.collection.collected import Collected
from collector.collection.progress import CollectProgress
from collector.collection.settings import CollectSettings
from collector.validation import validate_settings
from tests.gym import Gym
from tests.support import Row


class Told(CollectProgress):
    """Keeps what would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def collected(gym: Gym, tasks: Path, told: Told | None = None, **settings: Any) -> Collected:
    """Collect from a gym whose head server says where its agents are."""
    given = {
        "input_jsonl_fpath": tasks,
        "output_jsonl_fpath": tasks.with_name("out.jsonl"),
        "head_port": gym.port,
        **settings,
    }
    return collect(validate_settings(CollectSettings, given), told or Told())


def metrics_of(result: Collected) -> list[Row]:
    entries: list[Row] = json.loads(result.files.aggregate.read_text(encoding="utf-8"))
    return entries


def record_of(result: Collected) -> Row:
    record: Row = json.loads(result.files.record.read_text(encoding="utf-8"))
    return record
