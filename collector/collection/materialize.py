"""Turn input rows into the rows to run: one line a rollout, as NeMo Gym writes them."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from collector.collection.keys import MAX_ROLLOUT, ROLLOUT, TASK
from collector.collection.problems import LineProblems
from collector.collection.prompts import Prompt
from collector.errors import FileError
from collector.jsonl import dump, parse_object

Row = dict[str, Any]
AGENT = "agent_ref"
PARAMS = "responses_create_params"
DEFAULT = "_default"
BOM = b"\xef\xbb\xbf"
MAX_INDEX = (1 << 63) - 1
BUFFER_BYTES = 1 << 20


@dataclass(frozen=True)
class Recipe:
    """What decides how an input row becomes rows to run."""

    agent_name: str | None = None
    limit: int | None = None
    num_repeats: int | Mapping[str, int] = 1
    num_repeats_add_seed: bool = False
    responses_create_params: Row = field(default_factory=dict)
    prompt: Prompt | None = None
    shard: tuple[int, int] | None = None
    """Which part of the tasks, of how many: each has the indices it has in the whole."""


@dataclass
class Materialized:
    """What was written, and from what."""

    input_sha256: str = ""
    sha256: str = ""
    task_count: int = 0
    rollout_counts: Counter[str] = field(default_factory=Counter)
    """Rollouts per agent."""
    repeats: dict[str, int] = field(default_factory=dict)
    """Repeats per agent."""
    mixed_lines: list[int] = field(default_factory=list)
    """Lines that share their own task index with a different line."""

    @property
    def rollout_count(self) -> int:
        """Return how many rollouts there are to run."""
        return self.rollout_counts.total()


def materialize(source: Path, recipe: Recipe, out: BinaryIO) -> Materialized:
    """Write one line for each rollout to run, or name every line that cannot be used."""
    rows = _Rows(source, recipe)
    result = Materialized()
    digest = hashlib.sha256()
    for number, row in _usable(rows):
        try:
            for line in rows.repeated(row):
                digest.update(line)
                out.write(line)
        except ValueError as error:
            rows.problems.add(number, str(error))
    rows.problems.raise_any()
    result.input_sha256 = rows.input_digest.hexdigest()
    result.sha256 = digest.hexdigest()
    result.task_count = rows.tasks.count
    result.rollout_counts = rows.rollout_counts
    result.repeats = rows.repeats
    result.mixed_lines = rows.tasks.mixed_lines
    return result


class _UnusableError(ValueError):
    """An input line that makes no row to run; the text says why, the hint what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class _Tasks:
    """Which task a row belongs to, and how many rollouts of it there are already."""

    def __init__(self) -> None:
        self._by_content: dict[bytes, int] = {}
        self._counts = array("Q")
        self._own: dict[int, tuple[bytes, int]] = {}
        self._own_counts: Counter[int] = Counter()
        self.mixed_lines: list[int] = []

    @property
    def count(self) -> int:
        return len(self._counts) + len(self._own)

    def own(self, index: int, number: int, line: bytes) -> None:
        content = _digest(line)
        first, _ = self._own.setdefault(index, (content, number))
        if first != content:
            self.mixed_lines.append(number)

    def index_of(self, line: bytes) -> int:
        index = self._by_content.setdefault(_digest(line), len(self._counts))
        if index == len(self._counts):
            self._counts.append(0)
        return index

    def next_rollouts(self, index: int, repeats: int) -> range:
        """Return the indices of the next rollouts of a task."""
        counts: array[int] | Counter[int] = self._own_counts if index in self._own else self._counts
        first = counts[index]
        if first + repeats > MAX_ROLLOUT:
            raise ValueError(f"its task has more than {MAX_ROLLOUT:,} rollouts")
        counts[index] = first + repeats
        return range(first, first + repeats)

    def collisions(self) -> Iterator[tuple[int, int]]:
        """Return own indices that rows without one were given too, each with its line."""
        for index, (_, number) in self._own.items():
            if index < len(self._counts):
                yield number, index


class _Rows:
    """The rows of one input file, and what is wrong with it."""

    def __init__(self, source: Path, recipe: Recipe) -> None:
        self.source = source
        self.recipe = recipe
        self.problems = LineProblems(source)
        self.input_digest = hashlib.sha256()
        self.tasks = _Tasks()
        self.rollout_counts: Counter[str] = Counter()
        self.repeats: dict[str, int] = {}

    def lines(self) -> Iterator[tuple[int, bytes]]:
        limit = self.recipe.limit or None
        try:
            with self.source.open("rb", buffering=BUFFER_BYTES) as file:
                for number, line in enumerate(file, start=1):
                    self.input_digest.update(line)
                    if limit is None or number <= limit:
                        text = line.removeprefix(BOM) if number == 1 else line
                        yield number, text.strip()
        except OSError as error:
            raise FileError(f"cannot read {self.source}: {error.strerror}") from error

    def prepared(self, number: int, line: bytes) -> Row:
        """Return the row as it is sent, but for its rollout index."""
        row = _parsed(line)
        self._fill_prompt(row)
        self._name_agent(row)
        self._set_params(row)
        if TASK not in row:
            row[TASK] = self.tasks.index_of(line)
        elif type(row[TASK]) is int and 0 <= row[TASK] <= MAX_INDEX:
            self.tasks.own(row[TASK], number, line)
        else:
            raise _UnusableError(f"{TASK} is no index")
        return row

    def repeated(self, row: Row) -> Iterator[bytes]:
        """Return a line for each rollout of the row."""
        name = row[AGENT]["name"]
        indices = self.tasks.next_rollouts(row[TASK], self.repeats[name])
        self.rollout_counts[name] += len(indices)
        if ROLLOUT in row or self.recipe.num_repeats_add_seed:
            for index in indices:
                yield dump(self._numbered(row, index)) + b"\n"
            return
        start = dump(row)[:-1]
        for index in indices:
            yield b'%b,"%b":%d}\n' % (start, ROLLOUT.encode(), index)

    def is_wanted(self, task: int) -> bool:
        """Tell whether a task is in the shard that is asked for."""
        shard = self.recipe.shard
        return shard is None or task % shard[1] == shard[0] - 1

    def repeats_of(self, name: str) -> int | None:
        """Return how often rows of an agent are repeated, and remember it."""
        given = self.recipe.num_repeats
        repeats = given if isinstance(given, int) else given.get(name) or given.get(DEFAULT)
        if repeats is not None:
            self.repeats[name] = repeats
        return repeats

    def _fill_prompt(self, row: Row) -> None:
        if not self.recipe.prompt:
            return
        params = row.setdefault(PARAMS, {})
        if not isinstance(params, dict):
            raise _UnusableError(f"{PARAMS} is no object")
        if params.get("input"):
            raise _UnusableError(
                f"{PARAMS}.input is there already, and prompt_config would replace it",
                "leave out prompt_config, or the input of these rows",
            )
        try:
            params["input"] = self.recipe.prompt.messages(row)
        except ValueError as error:
            raise _UnusableError(str(error)) from error

    def _name_agent(self, row: Row) -> None:
        if AGENT not in row and self.recipe.agent_name:
            row[AGENT] = {"name": self.recipe.agent_name}
        reference = row.get(AGENT)
        name = reference.get("name") if isinstance(reference, dict) else None
        if not (isinstance(name, str) and name):
            raise _UnusableError(
                "no agent", "give agent_name (--agent-name), or put an agent_ref into the rows"
            )
        if self.repeats_of(name) is None:
            raise _UnusableError(
                f"num_repeats has no number for agent {name}", f"add {name} or {DEFAULT} to it"
            )

    def _set_params(self, row: Row) -> None:
        if not isinstance(row.get(PARAMS), dict):
            raise _UnusableError(
                f"no {PARAMS}" if PARAMS not in row else f"{PARAMS} is no object",
                "agents need it: put it into the rows, or give a prompt_config",
            )
        row[PARAMS] |= self.recipe.responses_create_params
        if self.recipe.num_repeats_add_seed:
            _extra_body(row)

    def _numbered(self, row: Row, index: int) -> Row:
        row[ROLLOUT] = index
        if self.recipe.num_repeats_add_seed:
            # json, not orjson: servers and NeMo Gym write it with a space after the colon
            text = json.dumps(_extra_body(row) | {"seed": index})
            row[PARAMS].setdefault("metadata", {})["extra_body"] = text
        return row


def _usable(rows: _Rows) -> Iterator[tuple[int, Row]]:
    """Return the prepared rows; from the first problem on only look for more of them."""
    for number, line in rows.lines():
        if not line:
            continue
        try:
            row = rows.prepared(number, line)
        except _UnusableError as problem:
            rows.problems.add(number, str(problem), problem.hint)
            continue
        if not rows.problems and rows.is_wanted(row[TASK]):
            yield number, row
    for number, index in rows.tasks.collisions():
        rows.problems.add(
            number,
            f"its own {TASK} {index} is also given to a row that has none",
            f"give all rows a {TASK}, or none",
        )


def _parsed(line: bytes) -> Row:
    try:
        return parse_object(line)
    except ValueError as error:
        raise _UnusableError(str(error)) from error


def _extra_body(row: Row) -> Row:
    """Return the vLLM settings of a row, which travel as text."""
    metadata = row[PARAMS].get("metadata", {})
    text = metadata.get("extra_body", "{}") if isinstance(metadata, dict) else None
    try:
        body = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise _UnusableError(f"{PARAMS}.metadata.extra_body is no JSON object, and needs the seed")
    return body


def _digest(line: bytes) -> bytes:
    return hashlib.sha1(line).digest()  # the fastest that tells rows apart


def unused_repeats(recipe: Recipe, found: Materialized) -> list[str]:
    """Return the agents that num_repeats names and no row asks for: perhaps misspelt."""
    if isinstance(recipe.num_repeats, int):
        return []
    return sorted(set(recipe.num_repeats) - set(found.repeats) - {DEFAULT})
