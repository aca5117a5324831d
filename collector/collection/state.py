"""Read from the artifacts of an unfinished run what is done and what failed how often."""

from __future__ import annotations

import hashlib
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.collection.failure_kinds import is_failure_kind, is_terminal
from collector.collection.outcomes import ELAPSED
from collector.collection.passing import is_pass
from collector.collection.problems import LineProblems, line_list
from collector.collection.requests import Request, request_of
from collector.collection.routing import label_of
from collector.collection.rows import Listener, keyed_rows, numbered_lines
from collector.errors import FileError, InvariantError
from collector.keys import Key, Keys

Row = dict[str, Any]
NEXT_STEP = "then resume"
UNEXPLAINED = "no reason given"


@dataclass
class Tally:
    """Rollouts and rewards of one agent so far."""

    count: int = 0
    masked: Counter[str] = field(default_factory=Counter)
    """Rollouts that the environment masked, by reason: they ran, but are not measured."""
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
        if row.get("mask_sample"):
            kind = row.get("failure_kind")
            self.masked[str(kind) if is_failure_kind(kind) else UNEXPLAINED] += 1
            return
        reward = row.get("reward")
        if isinstance(reward, (int, float)) and abs(reward) <= sys.float_info.max:
            self.reward_count += 1
            self.reward_sum += float(reward)


@dataclass
class RunState:
    """The progress of a run."""

    done: Keys = field(default_factory=Keys)
    attempts: Counter[Key] = field(default_factory=Counter)
    terminal: set[Key] = field(default_factory=set)
    tallies: dict[str, Tally] = field(default_factory=dict)
    seconds: dict[Key, float] = field(default_factory=dict)
    """The seconds of the longest failed attempt, if rollouts run longest first."""
    passed: Keys = field(default_factory=Keys)
    """The rollouts that pass, if tasks are to be decided."""
    unmeasured: Keys = field(default_factory=Keys)
    """The completed rollouts that measure nothing, if tasks are to be decided."""
    chosen: Keys | None = None
    """The rollouts that this session may run; None means all."""

    def tally(self, agent: str) -> Tally:
        """Return the counts of an agent."""
        return self.tallies.setdefault(agent, Tally())

    def note_pass(self, key: Key, *, is_pass: bool | None) -> None:
        """Note whether a rollout passes; None means that it measures nothing."""
        if is_pass is None:
            self.unmeasured.add(key)
        elif is_pass:
            self.passed.add(key)

    def note_failure(self, key: Key, *, is_terminal: bool) -> None:
        """Count a failed attempt."""
        self.attempts[key] += 1
        if is_terminal:
            self.terminal.add(key)

    def count_given_up(self, max_attempts: int) -> tuple[int, int]:
        """Return how many rollouts are never retried, and how many used up their attempts."""
        terminal = sum(key not in self.done and self.is_chosen(key) for key in self.terminal)
        spent = sum(
            count >= max_attempts
            and key not in self.done
            and key not in self.terminal
            and self.is_chosen(key)
            for key, count in self.attempts.items()
        )
        return terminal, spent

    def is_chosen(self, key: Key) -> bool:
        """Tell whether this session may run a rollout."""
        return self.chosen is None or key in self.chosen

    def is_open(self, key: Key, max_attempts: int) -> bool:
        """Tell whether a rollout must still run."""
        if key in self.done or key in self.terminal or not self.is_chosen(key):
            return False
        return self.attempts.get(key, 0) < max_attempts


@dataclass
class Expected:
    """The rollouts that the materialized inputs ask for."""

    sha256: str
    keys: Keys
    rollout_counts: Counter[str]


def read_inputs(
    path: Path, listener: Listener, visit: Callable[[Request, int], None] | None = None
) -> Expected:
    """Read the materialized inputs; raise LinesError if a line cannot be run.

    `visit` gets each row, and the position of its line in the file.
    """
    digest = hashlib.sha256()
    offset = 0
    keys = Keys()
    counts: Counter[str] = Counter()
    problems = LineProblems(path)
    for number, line in numbered_lines(path, listener):
        digest.update(line)
        start, offset = offset, offset + len(line)
        if not line.strip():
            continue
        try:
            request = request_of(line.strip())
        except ValueError as error:
            problems.add(number, str(error))
            continue
        if not keys.add(request.key):
            problems.add(number, f"{_key_text(request.key)} appears twice")
        counts[request.agent] += 1
        if visit:
            visit(request, start)
    problems.raise_any()
    return Expected(digest.hexdigest(), keys, counts)


@dataclass(frozen=True)
class ResumeRules:
    """How a resume treats the failures of earlier sessions."""

    retry_timeouts: bool = False
    longest_first: bool = False
    pass_threshold: float | None = None
    """The reward from which a rollout passes, if tasks are to be decided."""


def read_state(
    rollouts: Path, failures: Path, expected: Expected, listener: Listener, reading: ResumeRules
) -> RunState:
    """Read rollouts and failures; raise LinesError or InvariantError for unusable lines."""
    state = RunState()
    repeated: list[int] = []
    unknown: list[int] = []
    for number, key, row, _ in keyed_rows(rollouts, next_step=NEXT_STEP, listener=listener):
        if key not in expected.keys:
            unknown.append(number)
        elif not state.done.add(key):
            repeated.append(number)
        state.tally(str(label_of(row))).add(row)
        if reading.pass_threshold is not None:
            state.note_pass(key, is_pass=is_pass(row, reading.pass_threshold))
    for numbers, what in (
        (repeated, "a rollout that an earlier line has"),
        (unknown, "a rollout that the materialized inputs do not ask for"),
    ):
        if numbers:
            noun, verb = ("line", "is") if len(numbers) == 1 else ("lines", "are each")
            raise InvariantError(
                f"{len(numbers):,} {noun} of {rollouts} {verb} {what}: {line_list(numbers)}\n"
                f"  what to do: remove the {noun}, or start over with --overwrite"
            )
    if failures.exists():
        for _, key, row, _ in keyed_rows(failures, next_step=NEXT_STEP, listener=listener):
            terminal = is_terminal(row, retry_timeouts=reading.retry_timeouts)
            state.note_failure(key, is_terminal=terminal)
            if reading.longest_first and (seconds := _seconds(row)):
                state.seconds[key] = max(seconds, state.seconds.get(key, 0.0))
    return state


def open_requests(inputs: Path, state: RunState, max_attempts: int) -> Iterator[Request]:
    """Yield the rollouts that must still run, in the order of the file.

    Rollouts with known seconds come first, the longest ones leading.
    """
    if state.seconds:
        yield from _longest_first(inputs, state, max_attempts)
    for number, line in numbered_lines(inputs):
        request = _open_request(line, state, max_attempts, f"{inputs}:{number}")
        if request and request.key not in state.seconds:
            yield request


def _longest_first(inputs: Path, state: RunState, max_attempts: int) -> Iterator[Request]:
    places: list[tuple[float, int]] = []
    offset = 0
    for number, line in numbered_lines(inputs):
        request = _open_request(line, state, max_attempts, f"{inputs}:{number}")
        if request and request.key in state.seconds:
            places.append((-state.seconds[request.key], offset))
        offset += len(line)
    with inputs.open("rb") as file:
        for _, place in sorted(places):
            file.seek(place)
            request = _open_request(file.readline(), state, max_attempts, str(inputs))
            if request:
                yield request


def _open_request(line: bytes, state: RunState, max_attempts: int, where: str) -> Request | None:
    text = line.strip()
    if not text:
        return None
    try:
        request = request_of(text)
    except ValueError as error:
        raise FileError(f"{where} was damaged while it was read: {error}") from error
    if not state.is_open(request.key, max_attempts):
        return None
    attempt = state.attempts.get(request.key, 0)
    return request_of(text, attempt=attempt) if attempt else request


def _seconds(row: Row) -> float | None:
    """Return how long a failed attempt took, if its row says so."""
    response = row.get("response")
    metadata = response.get("metadata") if isinstance(response, dict) else None
    values = [row.get(ELAPSED), metadata.get(ELAPSED) if isinstance(metadata, dict) else None]
    return next((float(value) for value in values if isinstance(value, (int, float))), None)


def _key_text(key: Key) -> str:
    return f"{key[0]}:{key[1]}"
