"""One rollout to run: what is sent, and what is stamped on the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from collector.collection.episodes import ROLLOUT_ID, episode_body, episode_record
from collector.collection.failure_kinds import RUN_ERROR
from collector.collection.routing import AGENT, SERVER, SOURCE, target_of, taskset_of
from collector.jsonl import dump, parse_object
from collector.keys import ROLLOUT, TASK, Key, row_key

Row = dict[str, Any]
ATTEMPT = "_ng_attempt_index"
# its name begins with _, so that it is not a metric
LATENCY = "_spotter_latency_ms"
CARRIED = (TASK, ROLLOUT, AGENT, SOURCE, "skills_ref", ATTEMPT, ROLLOUT_ID, SERVER)
ABSENT = object()


@dataclass(frozen=True, slots=True)
class Request:
    """A materialized row to run."""

    key: Key
    agent: str
    """The server that runs it: an agent, or an environment server."""
    stamps: Row
    """The fields of the row that its answer gets."""
    attempt: int
    """How many attempts failed before."""
    line: bytes
    """The row as it was materialized."""
    is_episode: bool = False
    """Whether it is a task of a taskset, which has its own form of request and answer."""
    error_kind: ClassVar[str] = RUN_ERROR
    """The kind of a failure whose reason only the server knows."""

    @property
    def problem(self) -> str | None:
        """Return why the row cannot be sent at all, or None."""
        return None

    @property
    def body(self) -> bytes:
        """Return the body to send; a retried row has its attempt number."""
        if self.is_episode:
            return episode_body(parse_object(self.line), self.key, self.attempt)
        if ATTEMPT not in self.stamps:
            return self.line
        return stamp_line(self.line, parse_object(self.line), {ATTEMPT: self.stamps[ATTEMPT]})

    def again(self) -> Request:
        """Return the next attempt of the same rollout."""
        return with_attempt(self, self.attempt + 1)

    def answer_stamps(self, seconds: float) -> Row:
        """Return the fields to add to an answer that took so many seconds."""
        return {**self.stamps, LATENCY: round(1000 * seconds, 1)}

    def record_of(self, answer: Row) -> Row:
        """Return the row to store for an answer; raise ValueError if the answer has none."""
        return episode_record(answer) if self.is_episode else answer


def request_of(line: bytes, *, attempt: int = 0) -> Request:
    """Return the request of a materialized row; raise ValueError if the row cannot be run."""
    row = parse_object(line)
    key = row_key(row)
    name = target_of(row)
    if name is None:
        raise ValueError("no agent_ref with a name")
    request = Request(
        key=key,
        agent=name,
        stamps={field: row[field] for field in CARRIED if field in row},
        attempt=attempt,
        line=line,
        is_episode=taskset_of(row) is not None,
    )
    return with_attempt(request, attempt) if attempt else request


def stamp_line(text: bytes, row: Row, stamps: Row) -> bytes:
    """Return a row with these fields added, as one line.

    The server's own text is copied where possible, so that numbers keep every digit.
    """
    new = {name: value for name, value in stamps.items() if not _same(row.get(name, ABSENT), value)}
    if b"\n" in text or b"\r" in text or not row or any(name in row for name in new):
        return dump({**row, **new})
    return text.strip()[:-1] + b"," + dump(new)[1:] if new else text.strip()


def with_attempt(request: Request, attempt: int) -> Request:
    """Return a request as the attempt with this number."""
    return replace(request, attempt=attempt, stamps={**request.stamps, ATTEMPT: attempt})


def _same(left: object, right: object) -> bool:
    return type(left) is type(right) and left == right
