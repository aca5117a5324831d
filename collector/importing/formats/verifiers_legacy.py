"""The older logs of verifiers: `results.jsonl` with `metadata.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json
from collector.importing.candidates import Candidate
from collector.importing.json_values import (
    count,
    items,
    number,
    numbers,
    part,
    sampling,
    text,
    usage,
)
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.messages import chat_items
from collector.importing.reading import Reading

METADATA = "metadata.json"
OWN = (
    *("example_id", "prompt", "completion", "answer", "reward", "error", "metrics", "tool_defs"),
    *("token_usage", "error_chain", "long_error_chain", "is_truncated"),
)


@dataclass
class LegacyLog:
    """The rollouts of one evaluation."""

    path: Path
    reading: Reading
    metadata_path: Path
    torn: TornLine = field(default_factory=TornLine)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the results, and the metadata if they are there."""
        has_metadata = self.metadata_path.is_file()
        return (self.path, self.metadata_path) if has_metadata else (self.path,)

    @property
    def label(self) -> str:
        """Return the environment and the folder, which is named after the call."""
        return f"{self.identity.environment or 'verifiers'}_{self.path.parent.name}"

    @cached_property
    def identity(self) -> Identity:
        """Return what the metadata say."""
        model = text(self._metadata.get("model"))
        return Identity(
            framework="verifiers",
            framework_version=text(part(self._metadata, "version_info").get("vf_version")),
            models=(model,) if model else (),
            environment=text(self._metadata.get("env_id")),
            sampling=sampling(part(self._metadata, "sampling_args")),
            started_at=text(self._metadata.get("date")),
        )

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per row; those at an example are numbered in the order of the file."""
        for _, row in read_rows(self.path, self.reading, self.torn):
            example = str(row.get("example_id"))
            yield self._attempt(row, example, self._counts[example])
            self._counts[example] += 1

    def expected(self) -> Iterator[Expected]:
        """Yield what the metadata ask for; examples without a row if they can only be numbers."""
        examples = count(self._metadata.get("num_examples"))
        repeats = count(self._metadata.get("rollouts_per_example"))
        known = [str(index) for index in range(examples)]
        are_numbers = set(self._counts) <= set(known)
        for example in known if are_numbers else self._counts:
            for repeat in range(repeats):
                yield Expected(example, repeat)

    def losses(self) -> list[str]:
        """Say what the files do not have."""
        found = ["verifiers does not store the weights of its rewards: only their sum is known"]
        if not self.metadata_path.is_file():
            found.append(f"there is no {METADATA}: how many rollouts there should be is unknown")
        return [*found, *self.torn.losses()]

    def _attempt(self, row: Json, example: str, repeat: int) -> Attempt:
        reward = number(row.get("reward"))
        metrics = numbers(part(row, "metrics")) or {
            name: value for name, value in numbers(row).items() if name not in OWN
        }
        failure = _failure(row.get("error"), row, reward)
        tokens = part(row, "token_usage")
        details = {
            name: value for name, value in row.items() if name not in OWN and name not in metrics
        }
        return Attempt(
            task=example,
            rollout=repeat,
            asked=asked_row(_messages(row.get("prompt")), answer=row.get("answer")),
            reward=self.reading.rewards.choose({"reward": reward, **metrics}, reward),
            output=_messages(row.get("completion"), role="assistant"),
            usage=usage(tokens.get("input_tokens"), tokens.get("output_tokens")),
            metrics=metrics,
            details=details,
            failure=failure,
            tools=[tool for tool in items(row, "tool_defs") if isinstance(tool, dict)],
            incomplete=_incomplete(row),
        )

    @cached_property
    def _metadata(self) -> Json:
        path = self.metadata_path
        return (Candidate(path).whole_object or {}) if path.is_file() else {}


def _failure(error: Any, row: Json, reward: float | None) -> Failure | None:
    if not error:
        return None
    if isinstance(error, dict):
        kind = text(error.get("error")) or "error"
        message = text(error.get("error_chain_repr")) or kind
    else:
        kind = str(error).split("(")[0].split(":")[0].strip() or "error"
        message = text(row.get("error_chain")) or str(error)
    return Failure(kind, message, stored_reward=reward)


def _incomplete(row: Json) -> str | None:
    if not row.get("is_truncated"):
        return None
    stop = text(row.get("stop_condition"))
    return stop if stop == "prompt_too_long" else "max_output_tokens"


def _messages(value: Any, *, role: str = "user") -> list[Json]:
    """Return the items of messages or of a text; calls of tools are JSON in a text."""
    if isinstance(value, str):
        return chat_items([{"role": role, "content": value}]) if value else []
    messages = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return chat_items([{**one, "tool_calls": _calls(one)} for one in messages])


def _calls(message: Json) -> list[Json]:
    found = [_parse_call(call) for call in items(message, "tool_calls")]
    return [call for call in found if isinstance(call, dict)]


def _parse_call(call: Any) -> Any:
    if not isinstance(call, str):
        return call
    try:
        return orjson.loads(call)
    except orjson.JSONDecodeError:
        return {"arguments": call}
