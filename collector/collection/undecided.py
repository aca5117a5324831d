"""Draw repeats round by round, and only for tasks whose band is not decided yet."""

from __future__ import annotations

import asyncio
from array import array
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.collection.decisions import DecisionTable
from collector.collection.requests import Request, request_of
from collector.collection.rows import numbered_lines
from collector.collection.state import RunState
from collector.keys import Key

Row = dict[str, Any]
UNDRAWN, RUNNING, UNMEASURED, FAILED, PASSED = range(5)


class Repeats:
    """The rollouts of one task on one server, in the order in which they are drawn."""

    __slots__ = ("band", "offsets", "pass_count", "place", "rollout_count", "running", "states")

    def __init__(self) -> None:
        """Start without rollouts."""
        self.offsets = array("Q")
        self.states = bytearray()
        self.place = 0
        """How many rollouts have been looked at, in order: one that runs holds back the rest."""
        self.rollout_count = 0
        self.pass_count = 0
        self.running = 0
        self.band: str | None = None

    @property
    def undrawn_count(self) -> int:
        """Return how many rollouts were not drawn."""
        return self.states.count(UNDRAWN)

    @property
    def ahead_count(self) -> int:
        """Return how many rollouts were drawn, but not looked at yet."""
        return len(self.states) - self.place - self.states.count(UNDRAWN, self.place)

    def look(self, table: DecisionTable) -> None:
        """Look at the rollouts one by one, until one decides the band.

        They are looked at in the order of drawing, not of completion: quick rollouts may pass more
        often than slow ones.
        """
        while self.band is None and self.place < len(self.states):
            state = self.states[self.place]
            if state in (UNDRAWN, RUNNING):
                return
            self.place += 1
            if state != UNMEASURED:
                self.rollout_count += 1
                self.pass_count += state == PASSED
                self.band = table.band(self.rollout_count, self.pass_count)


class RepeatIndex:
    """The repeats of every task of a run, and where their rows are."""

    def __init__(self, inputs: Path, state: RunState, max_attempts: int) -> None:
        """Read the materialized inputs once; what earlier sessions did is in `state`."""
        self.groups: dict[tuple[int, str], Repeats] = {}
        self.retries: list[tuple[float, int, int]] = []
        """Rollouts that failed before and are tried again: order, position and attempt."""
        offset = 0
        for _, line in numbered_lines(inputs):
            if line.strip():
                self._add(request_of(line.strip()), offset, state, max_attempts)
            offset += len(line)
        self.retries.sort()

    @property
    def most_rollouts(self) -> int:
        """Return how many rollouts a task has at most."""
        return max((len(group.states) for group in self.groups.values()), default=0)

    def _add(self, request: Request, offset: int, state: RunState, max_attempts: int) -> None:
        key = request.key
        group = self.groups.setdefault((key[0], request.agent), Repeats())
        group.offsets.append(offset)
        group.states.append(_known_state(key, state))
        attempt = state.attempts.get(key, 0)
        if attempt and state.is_open(key, max_attempts):
            self.retries.append((-state.seconds.get(key, 0.0), offset, attempt))


def _known_state(key: Key, state: RunState) -> int:
    if key in state.done:
        if key in state.unmeasured:
            return UNMEASURED
        return PASSED if key in state.passed else FAILED
    return UNMEASURED if key in state.attempts else UNDRAWN


class UndecidedRequests:
    """The rollouts to run: an iterator that may also say what to wait for.

    An item is a request, or an event: nothing can be drawn until it is set.
    """

    def __init__(
        self, inputs: Path, index: RepeatIndex, table: DecisionTable, *, parallel: int
    ) -> None:
        """Decide what the rollouts of earlier sessions decide."""
        self._file = inputs.open("rb")
        self._groups = index.groups
        self._retries = deque((offset, attempt) for _, offset, attempt in index.retries)
        self._table = table
        self._parallel = parallel
        self._running: dict[Key, tuple[Repeats, int]] = {}
        self._changed = asyncio.Event()
        self.decided_count = 0
        self.undrawn_count = 0
        """Rollouts that are not drawn, because the band of their task is decided."""
        for group in self._groups.values():
            self._look(group)
        self._waiting: dict[int, Repeats] = {}
        self._queue = deque(group for group in self._groups.values() if group.band is None)
        self._share = self._fair_share()

    @property
    def task_count(self) -> int:
        """Return how many tasks there are; a task counts once per agent."""
        return len(self._groups)

    def __iter__(self) -> Iterator[Request | asyncio.Event]:
        """Return itself."""
        return self

    def __next__(self) -> Request | asyncio.Event:
        """Return a request or what to wait for; stop when everything is decided or drawn."""
        if self._retries:
            offset, attempt = self._retries.popleft()
            return request_of(self._line(offset), attempt=attempt)
        while self._queue:
            group = self._queue.popleft()
            place = group.states.find(UNDRAWN)
            if group.band is not None or place < 0:
                continue
            if not self._may_draw(group):
                self._waiting[id(group)] = group
                continue
            self._queue.append(group)
            return self._start(group, place)
        if self._running:
            return self._changed
        raise StopIteration

    def note(self, key: Key, *, is_pass: bool | None) -> None:
        """Note that a rollout ended; None means that it measures nothing, or failed."""
        if key not in self._running:
            return  # a retried one: the task was looked at without it
        group, place = self._running.pop(key)
        group.running -= 1
        group.states[place] = UNMEASURED if is_pass is None else PASSED if is_pass else FAILED
        self._look(group)
        if self._waiting.pop(id(group), None):
            self._queue.append(group)
        share = self._fair_share()
        if share > self._share:
            self._queue.extend(self._waiting.values())
            self._waiting.clear()
        self._share = share
        self._changed.set()
        self._changed = asyncio.Event()

    def undrawn_offsets(self) -> set[int]:
        """Return where the rows of decided tasks are that were not drawn."""
        return {
            offset
            for group in self._groups.values()
            if group.band is not None
            for offset, state in zip(group.offsets, group.states, strict=True)
            if state == UNDRAWN
        }

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _start(self, group: Repeats, place: int) -> Request:
        request = request_of(self._line(group.offsets[place]))
        group.states[place] = RUNNING
        group.running += 1
        self._running[request.key] = group, place
        return request

    def _look(self, group: Repeats) -> None:
        if group.band is not None:
            return
        group.look(self._table)
        if group.band is not None:
            self.decided_count += 1
            self.undrawn_count += group.undrawn_count

    def _may_draw(self, group: Repeats) -> bool:
        """Tell whether one more rollout of a task may run.

        As many as any decision needs are never wasted. More may run only if there are more workers
        than undecided tasks.
        """
        needed = self._table.rollouts_to_go(group.rollout_count, group.pass_count)
        return needed is None or group.ahead_count < needed or group.running < self._share

    def _fair_share(self) -> int:
        undecided = max(1, self.task_count - self.decided_count)
        return -(-self._parallel // undecided)

    def _line(self, offset: int) -> bytes:
        self._file.seek(offset)
        return self._file.readline().strip()
