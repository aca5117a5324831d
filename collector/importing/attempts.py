"""What every format's reader gives: a log, its tasks and its attempts, in one shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

type Json = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """Why an attempt has no reward of its own."""

    kind: str
    """The framework's name of the error, such as `ConnectionError`."""
    message: str
    stored_reward: float | None = None
    """What the framework stored as the reward of the failed attempt."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task, as the log has it."""

    task: str
    """The framework's own name of the task."""
    rollout: int
    """Its number among the attempts at the task, from 0."""
    asked: Json
    """The input row: `responses_create_params` and what the verifier was given."""
    reward: float | None = None
    output: list[Json] = field(default_factory=list)
    """What happened, as items of the Responses API: messages, reasoning, calls, results."""
    usage: Json | None = None
    """`input_tokens`, `output_tokens` and `total_tokens`, with details where the log has them."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Further scores, each a number of its own."""
    details: Json = field(default_factory=dict)
    """What the verifier and the framework said besides, kept as it is."""
    failure: Failure | None = None


@dataclass(frozen=True)
class Expected:
    """An attempt that the log says was to be made."""

    task: str
    rollout: int
    asked: Json | None = None
    """The input row, if the log has it although the attempt is missing."""


@dataclass(frozen=True)
class Identity:
    """What tells the run apart from others, as far as the log says."""

    framework: str
    framework_version: str | None = None
    models: tuple[str, ...] = ()
    agent: str | None = None
    environment: str | None = None
    sampling: Json = field(default_factory=dict)
    started_at: str | None = None
    ended_at: str | None = None
    tags: dict[str, str] = field(default_factory=dict)


class Log(Protocol):
    """One run in the files of a framework; a reader never holds all of it in memory."""

    identity: Identity

    def attempts(self) -> Iterator[Attempt]:
        """Yield every attempt once, in an order that depends on the files alone."""
        ...

    def expected(self) -> Iterator[Expected]:
        """Yield every attempt that was to be made; called after the attempts were read."""
        ...

    def losses(self) -> list[str]:
        """Say in sentences what could not be carried over; called at the end."""
        ...
