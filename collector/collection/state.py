"""What the artifacts of an unfinished run say: what is done, what failed how often."""

from __future__ import annotations

import hashlib
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.collection.keys import Key, Keys
from collector.collection.outcomes import FAILURE_TERMINAL
from collector.collection.problems import LineProblems, listed
from collector.collection.requests import AGENT, Request, request_of
from collector.collection.rows import Listener, keyed_rows, numbered_lines
from collector.errors import FileError, InvariantError

Row = dict[str, Any]
HINT = "correct or remove them, then resume"


@dataclass
class Tally:
    """Rollouts and rewards of one agent so far."""

    count: int = 0
    reward_count: int = 0
    reward_sum: float = 0.0

    @property
    def mean(self) -> float | None:
        """Return the mean reward so far."""
        mean = self.reward_sum / self.reward_count if self.reward_count else math.nan
        return mean if math.isfinite(mean) else None

    def add(self, row: Row) -> None:
        """Count a rollout."""
        self.count += 1
        reward = row.get("reward")
        if isinstance(reward, (int, float)) and abs(reward) <= sys.float_info.max:
            self.reward_count += 1
            self.reward_sum += float(reward)


@dataclass
class State:
    """How far a run has come."""

    done: Keys = field(default_factory=Keys)
    attempts: Counter[Key] = field(default_factory=Counter)
    terminal: set[Key] = field(default_factory=set)
    tallies: dict[str, Tally] = field(default_factory=dict)

    def tally(self, agent: str) -> Tally:
        """Return the counts of an agent."""
        return self.tallies.setdefault(agent, Tally())

    def note_failure(self, key: Key, *, is_terminal: bool) -> None:
        """Count a failed attempt."""
        self.attempts[key] += 1
        if is_terminal:
            self.terminal.add(key)

    def given_up(self, max_attempts: int) -> tuple[int, int]:
        """Return how many rollouts were refused for good, and how many are out of attempts."""
        terminal = sum(key not in self.done for key in self.terminal)
        spent = sum(
            count >= max_attempts and key not in self.done and key not in self.terminal
            for key, count in self.attempts.items()
        )
        return terminal, spent

    def is_open(self, key: Key, max_attempts: int) -> bool:
        """Tell whether a rollout is still to be run."""
        if key in self.done or key in self.terminal:
            return False
        return self.attempts.get(key, 0) < max_attempts


@dataclass
class Expected:
    """What the materialized inputs ask for."""

    sha256: str
    keys: Keys
    rollout_counts: Counter[str]


def read_inputs(path: Path, listener: Listener) -> Expected:
    """Read the materialized inputs, or name every line that cannot be run."""
    digest = hashlib.sha256()
    keys = Keys()
    counts: Counter[str] = Counter()
    problems = LineProblems(path)
    for number, line in numbered_lines(path, listener):
        digest.update(line)
        if not line.strip():
            continue
        try:
            request = request_of(line.strip())
        except ValueError as error:
            problems.add(number, str(error))
            continue
        if not keys.add(request.key):
            problems.add(number, f"{_shown(request.key)} is there already")
        counts[request.agent] += 1
    problems.raise_any()
    return Expected(digest.hexdigest(), keys, counts)


def read_state(rollouts: Path, failures: Path, expected: Expected, listener: Listener) -> State:
    """Read what was collected, or name every line that cannot be used."""
    state = State()
    repeated: list[int] = []
    unknown: list[int] = []
    for number, key, row, _ in keyed_rows(rollouts, hint=HINT, listener=listener):
        if key not in expected.keys:
            unknown.append(number)
        elif not state.done.add(key):
            repeated.append(number)
        reference = row.get(AGENT)
        name = reference.get("name") if isinstance(reference, dict) else None
        state.tally(str(name)).add(row)
    for numbers, what in (
        (repeated, "repeat a rollout that is there already"),
        (unknown, "are of rollouts that the materialized inputs do not ask for"),
    ):
        if numbers:
            raise InvariantError(
                f"{len(numbers)} lines of {rollouts} {what}: line {listed(numbers)}\n"
                "  what to do: remove them, or collect anew with --overwrite"
            )
    if failures.exists():
        for _, key, row, _ in keyed_rows(failures, hint=HINT, listener=listener):
            state.note_failure(key, is_terminal=bool(row.get(FAILURE_TERMINAL)))
    return state


def open_requests(inputs: Path, state: State, max_attempts: int) -> Iterator[Request]:
    """Return the rollouts that are still to be run, one at a time, in the order of the file."""
    for number, line in numbered_lines(inputs):
        text = line.strip()
        if not text:
            continue
        try:
            request = request_of(text)
        except ValueError as error:
            raise FileError(f"{inputs}:{number} was damaged while it was read: {error}") from error
        if state.is_open(request.key, max_attempts):
            attempt = state.attempts.get(request.key, 0)
            yield request_of(text, attempt=attempt) if attempt else request


def _shown(key: Key) -> str:
    return f"{key[0]}:{key[1]}"
