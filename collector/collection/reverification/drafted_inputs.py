"""The materialized inputs of the new run: the rows of the rollouts that are part of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from collector.collection.record import MaterializedRecord
from collector.collection.routing import target_of
from collector.errors import FileError, InvariantError
from collector.keys import Key, Keys

Row = dict[str, Any]


@dataclass
class DraftedInputs:
    """The materialized inputs of the new run in figures."""

    keys: Keys = field(default_factory=Keys)
    rollout_counts: Counter[str] = field(default_factory=Counter)
    repeats: dict[str, Counter[int]] = field(default_factory=dict)
    tasks: set[int] = field(default_factory=set)
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, key: Key, row: Row, text: bytes, file: BinaryIO) -> None:
        """Write one row; raise InvariantError if an earlier row has its key."""
        if not self.keys.add(key):
            raise InvariantError(f"the materialized inputs have rollout {key[0]}:{key[1]} twice")
        target = target_of(row)
        if target is None:
            raise FileError(f"the materialized input of rollout {key[0]}:{key[1]} names no agent")
        self.rollout_counts[target] += 1
        self.repeats.setdefault(target, Counter())[key[0]] += 1
        self.tasks.add(key[0])
        self.digest.update(text + b"\n")
        file.write(text + b"\n")

    def record(self) -> MaterializedRecord:
        """Return what the record says about the rows."""
        return MaterializedRecord(
            sha256=self.digest.hexdigest(),
            task_count=len(self.tasks),
            rollout_count=self.keys.count,
            repeats={agent: max(counts.values()) for agent, counts in self.repeats.items()},
        )
