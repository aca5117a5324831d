"""Home-made JSON lines, read as a mapping says."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.errors import UsageError
from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.json_paths import JsonPath
from collector.importing.json_values import number, text, usage
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.mapping import Mapping, read_mapping
from collector.importing.messages import chat_items
from collector.importing.reading import Reading
from collector.jsonl import dump
from collector.keys import TASK

REQUIRED = ("reward", "messages", "input")


@dataclass
class MappedFormat:
    """The format that a mapping describes."""

    path: Path
    NAME: str = "mapping"

    def claim(self, file: Candidate) -> Claim | None:
        """Claim every file of JSON lines, except those of runs."""
        row = file.first_object
        return Claim.LOG if row is not None and TASK not in row else None

    def open_logs(self, files: list[Path], reading: Reading) -> list[Log]:
        """Return one run of all files."""
        return [MappedLog(read_mapping(self.path), tuple(sorted(files)), reading)]


@dataclass
class MappedLog:
    """The rows of some files."""

    mapping: Mapping
    files: tuple[Path, ...]
    reading: Reading
    torn: TornLine = field(default_factory=TornLine)
    _found: set[str] = field(default_factory=set)
    _names: dict[bytes, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def label(self) -> str:
        """Return the name of the first file."""
        return self.files[0].stem

    @property
    def identity(self) -> Identity:
        """Return the name that the mapping gives: models are those of the rows."""
        return Identity(framework=self.mapping.framework)

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per row; raise UsageError if no row has a field that is needed."""
        for path in self.files:
            for line, row in read_rows(path, self.reading, self.torn):
                yield self._attempt(row, f"{path}:{line}")
        self._refuse_unknown()

    def expected(self) -> Iterator[Expected]:
        """Yield nothing: a row is all that there is of an attempt."""
        return iter(())

    def losses(self) -> list[str]:
        """Say which fields of the mapping no row has."""
        absent = [name for name in self.mapping.paths() if name not in self._found]
        unknown = [f"no row has {self.mapping.paths()[name].text} ({name})" for name in absent]
        return [*unknown, *self.torn.losses()]

    def _attempt(self, row: Json, place: str) -> Attempt:
        found = {name: self._value(row, name, path) for name, path in self.mapping.paths().items()}
        given, made = self._conversation(found)
        asked = asked_row(chat_items(given), answer=found.get("answer"))
        task = self._task(found.get("task"), asked)
        reward, metrics = number(found["reward"]), self._metrics(found)
        error = found.get("error")
        return Attempt(
            task=task,
            rollout=self._rollout(found.get("rollout"), task, place),
            asked=asked,
            reward=self.reading.rewards.choose({"reward": reward, **metrics}, reward),
            output=chat_items(made),
            usage=usage(found.get("input_tokens"), found.get("output_tokens")),
            metrics=metrics,
            details=self._rest(row),
            failure=_failure(error, reward) if error else None,
            agent=text(found.get("agent")),
            model=text(found.get("model")),
        )

    def _value(self, row: Json, name: str, path: JsonPath) -> Any:
        value = path.find(row)
        if value is not None:
            self._found.add(name)
        return value

    def _conversation(self, found: Json) -> tuple[list[Any], list[Any]]:
        if self.mapping.messages is None:
            return _messages(found["input"], "user"), _messages(found.get("output"), "assistant")
        messages = _messages(found["messages"], "user")
        replies = [index for index, one in enumerate(messages) if _role(one) == "assistant"]
        first = replies[0] if replies else len(messages)
        return messages[:first], messages[first:]

    def _task(self, given: Any, asked: Json) -> str:
        if given is not None:
            return given if isinstance(given, str) else dump(given).decode()
        digest = hashlib.sha256(dump(asked)).digest()[:16]
        return self._names.setdefault(digest, f"t{len(self._names)}")

    def _rollout(self, given: Any, task: str, place: str) -> int:
        if self.mapping.rollout is None:
            self._counts[task] += 1
            return self._counts[task] - 1
        if isinstance(given, int) and not isinstance(given, bool):
            return given
        raise UsageError(f"{place}: {self.mapping.rollout.text} is not the number of a rollout")

    def _metrics(self, found: Json) -> dict[str, float]:
        values = {name: number(found[f"metrics.{name}"]) for name in self.mapping.metrics}
        return {name: value for name, value in values.items() if value is not None}

    def _rest(self, row: Json) -> Json:
        """Return the fields of a row that are not a path of the mapping themselves."""
        used = {path.steps[0] for path in self.mapping.paths().values() if len(path.steps) == 1}
        return {name: value for name, value in row.items() if name not in used}

    def _refuse_unknown(self) -> None:
        paths = self.mapping.paths()
        for name in REQUIRED:
            if name in paths and name not in self._found:
                raise UsageError(
                    f"no row has {paths[name].text}, which the mapping gives as {name}\n"
                    "  what to do: correct the path; it is like usage.input or items[0].score"
                )


def _messages(value: Any, role: str) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [{"role": role, "content": value}]


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None


def _failure(error: Any, reward: float | None) -> Failure:
    message = error if isinstance(error, str) else dump(error).decode()
    kind = text(error.get("type")) if isinstance(error, dict) else None
    return Failure(kind or message.splitlines()[0][:100], message, stored_reward=reward)
