"""What every format's reader gives: a log, its tasks and its attempts, in one shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """Why an attempt has no reward of its own."""

    kind: str
    """The framework's name of the error, such as `ConnectionError`."""
    message: str
    stored_reward: float | None = None
    """What the framework stored as the reward of the failed attempt."""
    is_retried: bool = False
    """Whether the framework tried again: another attempt with the same number follows."""


@dataclass(frozen=True)
class Finding:
    """What the framework says went wrong in an attempt whose reward counts, such as a refusal."""

    kind: str
    """`<framework>:<word of the framework>`, such as `harbor:reward_invalid`."""
    reason: str
    """What the framework says, as a sentence."""


class Mask(Finding):
    """Why the reward of an attempt that did not fail counts in no statistic."""


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
    """What the verifier and the framework said besides, kept as it is. Texts, lists and objects
    become fields of the rollout; numbers go into its field `details`, since they are not scores."""
    failure: Failure | None = None
    mask: Mask | None = None
    """Set if the framework itself calls the reward invalid; `reward` is what it stored."""
    finding: Finding | None = None
    """What went wrong although the reward counts."""
    agent: str | None = None
    """Who made the attempt, if the run has several agents."""
    model: str | None = None
    """Which model answered, if the run has several models."""
    tools: list[Json] = field(default_factory=list)
    """The tools that were offered: they belong to the agent, not to the task."""
    given: list[Json] | None = None
    """What the model was given before its first reply, if that is not what `asked` says: an agent
    may add its own words. The viewer shows it; `asked` stays the task."""
    incomplete: str | None = None
    """Why the model did not finish, such as `max_output_tokens`."""


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

    @property
    def identity(self) -> Identity:
        """Return what tells the run apart; asked for before the attempts are read."""
        ...

    @property
    def label(self) -> str:
        """Return a short name that tells the run from others in the folder, such as `step_20`."""
        ...

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that the run is read from: their hashes are recorded."""
        ...

    def attempts(self) -> Iterator[Attempt]:
        """Yield every attempt once, in an order that depends on the files alone."""
        ...

    def expected(self) -> Iterator[Expected]:
        """Yield every attempt that was to be made; called after the attempts were read."""
        ...

    def losses(self) -> list[str]:
        """Say in sentences what could not be carried over; called at the end."""
        ...
