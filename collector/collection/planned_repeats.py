"""Add the repeats of a plan to the materialized inputs of a run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from collector.atomic_files import Drafts, anything
from collector.collection.plans import OTHER_RUN, PlanLine, RepeatPlan
from collector.collection.requests import Request
from collector.collection.routing import agent_name_of
from collector.collection.row_params import PARAMS, RowParams, seed_of, without_seed
from collector.jsonl import dump, parse_object
from collector.keys import MAX_ROLLOUT, ROLLOUT, Key, Keys, row_key
from collector.suggestions import suggestion

Row = dict[str, Any]
INDEX = re.compile(rb'("%b"\s*:\s*)\d+' % ROLLOUT.encode())
COPY_BYTES = 1 << 20


@dataclass
class _Group:
    """The rows of one task on one server."""

    runner: str
    names: set[str]
    """The names that a plan may call the server by."""
    offset: int
    """The position of the first row in the file."""
    content: bytes
    """A hash of the first row without index and seed."""
    keys: list[Key] = field(default_factory=list)
    is_mixed: bool = False
    """Whether the rows differ in more than index and seed."""
    counts_seeds: bool = True
    """Whether the seed of every row is its rollout index."""


@dataclass
class PlannedRepeats:
    """The rows that a plan adds to a run, and all rows that it asks for."""

    plan: RepeatPlan
    has_seed: bool | None
    """Whether the run sends a seed with each rollout; None if no record says so."""
    chosen: Keys = field(default_factory=Keys)
    """All rollouts of the planned tasks and agents."""
    added: list[tuple[_Group, int]] = field(default_factory=list)
    """The new rollout indices, in the order of the plan."""
    _groups: dict[int, dict[str, _Group]] = field(default_factory=dict)
    _next: dict[int, int] = field(default_factory=dict)
    """The next rollout index by task: the agents of a task share the indices."""

    def __post_init__(self) -> None:
        """Know the planned tasks before their rows are read."""
        self._groups = {task: {} for task in self.plan.tasks}

    def visit(self, request: Request, offset: int) -> None:
        """Note a row of the run, if its task is planned."""
        task, rollout = request.key
        if task not in self._groups:
            return
        row = parse_object(request.line)
        content = _content(row)
        names = {request.agent, agent_name_of(row) or request.agent}
        group = self._groups[task].setdefault(
            request.agent, _Group(request.agent, names, offset, content)
        )
        group.keys.append(request.key)
        group.is_mixed |= group.content != content
        group.counts_seeds &= seed_of(row) == rollout
        self._next[task] = max(self._next.get(task, 0), rollout + 1)

    def decide(self, inputs: Path) -> None:
        """Decide which rows to add; raise LinesError with every line that does not fit the run."""
        problems = self.plan.problems()
        fitting: list[tuple[PlanLine, list[_Group]]] = []
        for line in self.plan.lines:
            try:
                fitting.append((line, self._groups_of(line)))
            except ValueError as error:
                problems.add(line.number, str(error))
        if any(line.entry.task_id for line, _ in fitting):
            _check_contents(fitting, inputs, problems.add)
        for line, groups in fitting:
            for group in groups:
                self._plan_group(group, line.entry.num_repeats)
            if self._next[line.entry.task_index] > MAX_ROLLOUT:
                problems.add(line.number, f"its task would have more than {MAX_ROLLOUT:,} rollouts")
        problems.raise_any()

    def new_keys(self) -> Iterator[tuple[Key, str]]:
        """Yield the key of each new row, and the server that runs it."""
        for group, index in self.added:
            yield (group.keys[0][0], index), group.runner

    def write(self, inputs: Path, drafts: Drafts) -> str:
        """Draft the materialized inputs with the new rows at their end; return the hash."""
        digest = hashlib.sha256()
        with inputs.open("rb") as source, drafts.open(inputs, replaces=anything) as out:
            last = b"\n"
            while chunk := source.read(COPY_BYTES):
                digest.update(chunk)
                out.write(chunk)
                last = chunk[-1:]
            for line in self._new_lines(source, is_cut=last != b"\n"):
                digest.update(line)
                out.write(line)
        return digest.hexdigest()

    def _groups_of(self, line: PlanLine) -> list[_Group]:
        entry = line.entry
        groups = list(self._groups[entry.task_index].values())
        if not groups:
            raise ValueError(f"the run has no task {entry.task_index}")
        if entry.agent_name is not None:
            known = sorted({name for group in groups for name in group.names})
            groups = [group for group in groups if entry.agent_name in group.names]
            if not groups:
                hint = suggestion(entry.agent_name, known) or f" (it ran on {', '.join(known)})"
                raise ValueError(
                    f"task {entry.task_index} did not run on agent {entry.agent_name}{hint}"
                )
        if any(group.is_mixed for group in groups):
            raise ValueError(
                f"task {entry.task_index} has different rows, so it is not clear which to repeat"
            )
        return groups

    def _plan_group(self, group: _Group, num_repeats: int) -> None:
        """Choose the rows of a group, and add those that it lacks."""
        task = group.keys[0][0]
        missing = num_repeats - len(group.keys)
        first = self._next[task]
        for index in range(first, first + max(0, missing)):
            self.added.append((group, index))
            group.keys.append((task, index))
        self._next[task] = first + max(0, missing)
        for key in group.keys:
            self.chosen.add(key)

    def _new_lines(self, source: BinaryIO, *, is_cut: bool) -> Iterator[bytes]:
        if is_cut:
            yield b"\n"
        for group, index in self.added:
            has_seed = group.counts_seeds if self.has_seed is None else self.has_seed
            yield repeat_line(_row_at(source, group), index, has_seed=has_seed) + b"\n"


def repeat_line(line: bytes, index: int, *, has_seed: bool) -> bytes:
    """Return a materialized row as another repeat of its task.

    Without a seed, the text stays the same except for the index, so that numbers keep every digit.
    """
    row = parse_object(line)
    wanted = {**row, ROLLOUT: index}
    if has_seed and PARAMS in row:
        RowParams(None, {}, has_seed=True).set_seed(wanted, index)
        return dump(wanted)
    text, count = INDEX.subn(b"\\g<1>%d" % index, line)
    return text if count == 1 and parse_object(text) == wanted else dump(wanted)


def _check_contents(
    lines: Sequence[tuple[PlanLine, list[_Group]]],
    inputs: Path,
    add_problem: Callable[[int, str, str], None],
) -> None:
    """Compare the task_id of plan lines with the rows of the run."""
    from collector.profiling.task_content import task_ids  # DuckDB takes a moment to import

    with inputs.open("rb") as source:
        rows = [(line, _row_at(source, groups[0])) for line, groups in lines if line.entry.task_id]
    found = task_ids({row_key(parse_object(row)): row for _, row in rows}.values())
    for line, row in rows:
        if found.get(row_key(parse_object(row))) != line.entry.task_id:
            task = line.entry.task_index
            reason = f"task {task} of the run has another content than task_id says"
            add_problem(line.number, reason, OTHER_RUN)


def _row_at(source: BinaryIO, group: _Group) -> bytes:
    source.seek(group.offset)
    return source.readline().strip()


def _content(row: Row) -> bytes:
    kept = {name: value for name, value in without_seed(row).items() if name != ROLLOUT}
    return hashlib.sha1(dump(dict(sorted(kept.items())))).digest()
