"""Failed and missing rollouts that count with a reward of 0 in the agents' metrics."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from collector.artifacts import FAILURES_SUFFIX, INPUTS_SUFFIX, beside
from collector.collection.failure_kinds import FAILURE_CLASS, failure_class_of
from collector.collection.routing import AGENT, SERVER
from collector.collection.rows import keyed_rows
from collector.collection.settings.counting import Counting
from collector.collection.sorting import Item, sorted_lines
from collector.errors import FileError
from collector.jsonl import dump, parse_object
from collector.keys import ROLLOUT, TASK, Key, Keys

Row = dict[str, Any]
Group = Callable[[Row], str | None]
IDENTITY = (TASK, ROLLOUT, AGENT, SERVER)
NEXT_STEP = "or resume that collection"
# fields that describe a failure: a number among them would become a metric
DIAGNOSTIC = ("_ng_failure_", "_ng_failed_at", "elapsed_seconds", "failure_kind", "failure_reason")
HEAVY = ("response", "responses_create_params")
ASKED, FAILED = b"a", b"f"


class ZeroRows:
    """The rows with a reward of 0 that are sent to the agents with the others."""

    def __init__(
        self, rollouts: list[Path], counting: Counting, scratch: Path, group: Group
    ) -> None:
        """Read the keys of the completed rollouts, and the fields of each agent's rollouts."""
        self._rollouts = rollouts
        self._counting = counting
        self._scratch = scratch
        self._group = group
        self._done = Keys()
        self._fields: dict[str | None, set[str]] = {}
        if not counting.counts_any:
            return
        for path in rollouts:
            for _, key, row, _ in keyed_rows(path, next_step=NEXT_STEP):
                self._done.add(key)
                self._fields.setdefault(group(row), set()).update(row)

    def items(self, agent: str, counted: Counter[str]) -> Iterator[Item]:
        """Yield the zero rows of an agent in the order of their keys; count them by reason."""
        if not self._counting.counts_any:
            return
        with sorted_lines(self._lines(agent), self._scratch) as ordered:
            for key, group in itertools.groupby(ordered, key=lambda item: item[0]):
                # only the last attempt counts
                last = {line[:1]: line[1:] for _, line in group}
                asked = parse_object(last[ASKED]) if ASKED in last else {}
                failed = parse_object(last[FAILED]) if FAILED in last else None
                if row := self._zero(asked, failed):
                    counted["failed" if failed else "missing"] += 1
                    yield key, dump(row)

    def _lines(self, agent: str) -> Iterator[Item]:
        """Yield the input and the failures of each missing rollout."""
        fields = self._fields.get(agent, set())
        for path in self._rollouts:
            inputs, failures = beside(path, INPUTS_SUFFIX), beside(path, FAILURES_SUFFIX)
            if inputs.is_file():
                for key, row in self._open_rows(inputs, agent):
                    kept = {name: row[name] for name in row if name in fields or name in IDENTITY}
                    yield key, ASKED + dump({n: v for n, v in kept.items() if n not in HEAVY})
            elif self._counting.count_missing_rollouts_as_zero:
                raise FileError(
                    f"{inputs} does not exist, but only it says which rollouts {path} lacks\n"
                    "  what to do: leave out count_missing_rollouts_as_zero"
                )
            if failures.is_file():
                for key, row in self._open_rows(failures, agent):
                    yield key, FAILED + dump({n: v for n, v in row.items() if n not in HEAVY})

    def _open_rows(self, path: Path, agent: str) -> Iterator[tuple[Key, Row]]:
        for _, key, row, _ in keyed_rows(path, next_step=NEXT_STEP):
            if key not in self._done and self._group(row) == agent:
                yield key, row

    def _zero(self, asked: Row, failed: Row | None) -> Row | None:
        if failed is None:
            is_counted = self._counting.count_missing_rollouts_as_zero
            row = {name: asked[name] for name in IDENTITY if name in asked}
        else:
            classes = self._counting.count_failure_classes_as_zero
            is_counted = bool({failed.get(FAILURE_CLASS), failure_class_of(failed)} & set(classes))
            row = {name: v for name, v in failed.items() if not name.startswith(DIAGNOSTIC)}
            row["mask_sample"] = False
        task_fields = {name: v for name, v in asked.items() if not name.startswith("_")}
        return task_fields | {"reward": 0.0} | row if is_counted else None
