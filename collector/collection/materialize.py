"""Turn input rows into the rows to run: one line per rollout, as NeMo Gym writes them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from collector.collection.problems import LineProblems, UnusableRowError
from collector.collection.prompts import Prompt
from collector.collection.routing import (
    AGENT,
    SERVER,
    Agents,
    NoAgents,
    Route,
    Router,
    taskset_of,
)
from collector.collection.row_params import RowParams
from collector.collection.settings.rows import DEFAULT, RowSettings
from collector.collection.sorting import sorted_lines
from collector.collection.task_indices import TaskIndices
from collector.errors import FileError
from collector.jsonl import dump, parse_object
from collector.keys import ROLLOUT, TASK
from collector.open_files import require_regular_file

Row = dict[str, Any]
Line = tuple[int, bytes]
"""A rollout index and the text of its row."""
BOM = b"\xef\xbb\xbf"
BUFFER_BYTES = 1 << 20


@dataclass
class Materialized:
    """The materialized inputs in figures."""

    input_sha256: str = ""
    sha256: str = ""
    task_count: int = 0
    rollout_counts: Counter[str] = field(default_factory=Counter)
    """Rollouts per server that runs them: an agent, or an environment server."""
    repeats: dict[str, int] = field(default_factory=dict)
    """Repeats per agent, and per key and agent for rows that were sent elsewhere."""
    mixed_lines: list[int] = field(default_factory=list)
    """Lines that share their own task index with a different line."""
    overridden: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows by the agent they name and the agent they are sent to instead."""
    keys: set[str] = field(default_factory=set)
    """The agents, task sources and tasksets that rows name."""
    renamed_count: int = 0
    """Rows with a parameter that is sent under another name."""

    @property
    def rollout_count(self) -> int:
        """Return how many rollouts there are to run."""
        return self.rollout_counts.total()


def materialize(  # noqa: PLR0913 - each can be left out
    source: Path,
    settings: RowSettings,
    out: BinaryIO,
    *,
    prompt: Prompt | None = None,
    agents: Agents | None = None,
    keeps_own_agents: bool = False,
    scratch: Path | None = None,
    shown: Path | None = None,
) -> Materialized:
    """Write one line for each rollout to run; raise LinesError with every line it cannot use.

    `agents` tells who runs rows that name a task source or go to an environment server. With
    `keeps_own_agents`, the default agent is only for rows without one. Lines that must be sorted
    and do not fit into memory wait in the folder `scratch`. Messages call the source `shown`.
    """
    router = Router(settings, agents or NoAgents(), keeps_own_agents=keeps_own_agents)
    rows = _Rows(source, settings, router, prompt)
    rows.problems = LineProblems(shown or source)
    digest = hashlib.sha256()
    lines = _lines_to_run(rows)
    if settings.interleave_repeats:
        numbered = (((rollout, place), line) for place, (rollout, line) in enumerate(lines))
        with sorted_lines(numbered, scratch) as ordered:
            _write((line for _, line in ordered), digest, out)
    else:
        _write((line for _, line in lines), digest, out)
    rows.problems.raise_any()
    return Materialized(
        input_sha256=rows.input_digest.hexdigest(),
        sha256=digest.hexdigest(),
        task_count=rows.tasks.count,
        rollout_counts=rows.rollout_counts,
        repeats=rows.repeats,
        mixed_lines=rows.tasks.mixed_lines,
        overridden=rows.router.overridden,
        keys=rows.router.keys,
        renamed_count=rows.renamed_count,
    )


def _write(lines: Iterator[bytes], digest: Any, out: BinaryIO) -> None:
    for line in lines:
        digest.update(line)
        out.write(line)


class _Rows:
    """The rows of one input file, and what is wrong with it."""

    def __init__(
        self, source: Path, settings: RowSettings, router: Router, prompt: Prompt | None
    ) -> None:
        self.source = source
        self.settings = settings
        self.problems = LineProblems(source)
        self.input_digest = hashlib.sha256()
        self.tasks = TaskIndices()
        self.router = router
        self.params = RowParams(
            prompt, settings.responses_create_params, settings.num_repeats_add_seed
        )
        self.renamed_count = 0
        self.rollout_counts: Counter[str] = Counter()
        self.repeats: dict[str, int] = {}

    def lines(self) -> Iterator[tuple[int, bytes]]:
        limit = self.settings.limit
        require_regular_file(self.source)
        try:
            with self.source.open("rb", buffering=BUFFER_BYTES) as file:
                for number, line in enumerate(file, start=1):
                    self.input_digest.update(line)
                    if limit is None or number <= limit:
                        text = line.removeprefix(BOM) if number == 1 else line
                        yield number, text.strip()
        except OSError as error:
            raise FileError(f"cannot read {self.source}: {error.strerror}") from error

    def prepare(self, number: int, line: bytes) -> tuple[Row, Route]:
        """Return the row to send, without its rollout index, and where it goes."""
        row = _parse_row(line)
        is_flat = taskset_of(row) is None
        if is_flat:
            self.params.fill_prompt(row)
        else:
            self.params.refuse_any()
        route = self.router.route(row)
        for target in route.targets:
            self._repeats_of(target, route)
        if is_flat:
            self.renamed_count += self.params.set_overrides(row)
        self.tasks.stamp(row, number, line)
        if route.server is not None:
            row[SERVER] = route.server
        return row, route

    def repeat(self, row: Row, route: Route) -> Iterator[Line]:
        """Yield a line for each rollout of the row, agent by agent."""
        for target in route.targets:
            indices = self.tasks.next_rollouts(row[TASK], self._repeats_of(target, route))
            self.rollout_counts[target] += len(indices)
            copy = dict(row)  # each agent starts from the row's own reference
            if route.server is None and not route.is_late:
                _name_agent(copy, target)
            late = self._late_agent(copy, target, route) if route.is_late else None
            if ROLLOUT in copy or self.settings.num_repeats_add_seed:
                for index in indices:
                    yield index, dump(self._number(copy, index, late)) + b"\n"
                continue
            start = dump(copy)[:-1]
            end = b"," + dump({AGENT: late})[1:] if late else b"}"
            for index in indices:
                yield index, b'%b,"%b":%d%b\n' % (start, ROLLOUT.encode(), index, end)

    def is_in_shard(self, task: int) -> bool:
        """Tell whether a task belongs to the shard to collect."""
        shard = self.settings.shard
        return shard is None or task % shard[1] == shard[0] - 1

    def _repeats_of(self, target: str, route: Route) -> int:
        """Return how often a row is repeated on a server, and remember it."""
        num_repeats = self.settings.num_repeats
        # the agent is not known here if only the head server's config names it
        called = None if route.server or route.is_late else target
        names = list(dict.fromkeys(name for name in (called, route.key) if name is not None))
        if isinstance(num_repeats, int):
            repeats = num_repeats
        else:
            key = next((name for name in names if name in num_repeats), DEFAULT)
            if key not in num_repeats:
                raise UnusableRowError(
                    f"num_repeats has no number for {' or '.join(names)}",
                    f"add {' or '.join(names)} or {DEFAULT} to it",
                )
            repeats = num_repeats[key]
        self.repeats[" → ".join(reversed(names))] = repeats
        return repeats

    def _late_agent(self, row: Row, target: str, route: Route) -> Row | None:
        """Return the agent reference to add as the last field, if the row has none."""
        if (row.get(AGENT) or {}).get("name") is not None:
            return None
        name = self.router.agents.behind(target) if route.server else target
        if name and AGENT in row:
            row[AGENT] = {"name": name}
            return None
        return {"name": name} if name else None

    def _number(self, row: Row, index: int, late: Row | None) -> Row:
        row[ROLLOUT] = index
        self.params.set_seed(row, index)
        return row | {AGENT: late} if late else row


def _name_agent(row: Row, target: str) -> None:
    if (row.get(AGENT) or {}).get("name") != target:
        row[AGENT] = {"name": target}


def _lines_to_run(rows: _Rows) -> Iterator[Line]:
    """Yield the lines of all rows; after the first problem, only look for more problems."""
    for number, text in rows.lines():
        if not text:
            continue
        try:
            row, route = rows.prepare(number, text)
            if not rows.problems and rows.is_in_shard(row[TASK]):
                yield from rows.repeat(row, route)
        except UnusableRowError as problem:
            rows.problems.add(number, str(problem), problem.hint)
        except ValueError as error:
            rows.problems.add(number, str(error))
    for number, index in rows.tasks.collisions():
        rows.problems.add(
            number,
            f"its own {TASK} {index} is also given to a row that has none",
            f"give all rows a {TASK}, or none",
        )


def _parse_row(line: bytes) -> Row:
    try:
        return parse_object(line)
    except ValueError as error:
        raise UnusableRowError(str(error)) from error


def unused_names(settings: RowSettings, materialized: Materialized) -> dict[str, list[str]]:
    """Return, by setting, the names that match no row: perhaps they are misspelt."""
    num_repeats = settings.num_repeats
    repeats = set() if isinstance(num_repeats, int) else set(num_repeats)
    known = materialized.keys | {DEFAULT}
    unused = {
        "num_repeats": repeats - known - set(materialized.rollout_counts),
        "agent_map": set(settings.agent_map) - known,
        "fan_out": set(settings.fan_out) - known,
    }
    return {setting: sorted(names) for setting, names in unused.items() if names}
