"""verl: the files `<step>.jsonl` of `rollout_data_dir` and `validation_data_dir`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.messages import text_message
from collector.importing.reading import Reading
from collector.jsonl import dump

NAME = "verl"
OWN = ("input", "output", "gts", "score", "step", "uid")


def claim(file: Candidate) -> Claim | None:
    """Tell a dump by the fields of its first row."""
    row = file.first_object or {}
    is_dump = {"input", "output", "score"} <= row.keys() and ("gts" in row or "step" in row)
    return Claim.LOG if is_dump else None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run per file, since a file is a step of the training; in the order of steps."""
    logs = [VerlLog(path, reading, _step(path)) for path in files]
    return [*sorted(logs, key=lambda log: (log.files[0].parent, _number(log.step), log.files))]


@dataclass
class VerlLog:
    """The attempts of one step."""

    path: Path
    reading: Reading
    step: str
    torn: TornLine = field(default_factory=TornLine)
    _sessions: dict[str, set[int]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the dump."""
        return (self.path,)

    @property
    def label(self) -> str:
        """Return the step."""
        return f"step_{self.step}"

    @property
    def identity(self) -> Identity:
        """Return the step: a dump has no name of a model."""
        return Identity(framework=NAME, tags={"step": self.step})

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per row, or per session where rows have a `uid`."""
        numbers: dict[bytes, int] = {}
        counts: dict[str, int] = {}
        session: list[Json] = []
        for _, row in read_rows(self.path, self.reading, self.torn):
            if "uid" in row:
                if session and _session(session[0]) != _session(row):
                    yield self._of_session(session)
                    session = []
                session.append(row)
                continue
            task = f"t{numbers.setdefault(_digest(row), len(numbers))}"
            counts[task] = counts.get(task, -1) + 1
            yield self._attempt(row, task, counts[task], asked=row)
        if session:
            yield self._of_session(session)

    def expected(self) -> Iterator[Expected]:
        """Yield the sessions that each prompt should have: as many as any prompt has."""
        seen = [number for numbers in self._sessions.values() for number in numbers]
        for task in self._sessions:
            for number in range(max(seen) + 1):
                yield Expected(task, number)

    def losses(self) -> list[str]:
        """Say that a dump has no tokens, and which line is torn."""
        return [
            "verl's dumps have no tokens, no tool calls and no name of the model:"
            " prompt and reply are one text each",
            *self.torn.losses(),
        ]

    def _of_session(self, rows: list[Json]) -> Attempt:
        """Return the attempt of a session: its last output counts, its first input is the task."""
        ordered = sorted(rows, key=lambda row: _uid(row)[2])
        task, number, _ = _uid(ordered[0])
        self._sessions.setdefault(task, set()).add(number)
        return self._attempt(ordered[-1], task, number, asked=ordered[0], earlier=ordered[:-1])

    def _attempt(
        self, row: Json, task: str, number: int, *, asked: Json, earlier: list[Json] | None = None
    ) -> Attempt:
        score = _float(row.get("score"))
        further = {name: value for name, value in row.items() if name not in OWN}
        metrics = {name: value for name, value in further.items() if _is_number(value)}
        details = {name: value for name, value in further.items() if name not in metrics}
        if earlier:
            details["earlier_outputs"] = earlier
        return Attempt(
            task=task,
            rollout=number,
            asked=asked_row(str(asked.get("input", "")), answer=asked.get("gts")),
            reward=self.reading.rewards.choose({"score": score, **metrics}, score),
            output=[text_message("assistant", str(row.get("output", "")))],
            metrics=metrics,
            details=details,
        )


def _step(path: Path) -> str:
    """Return the step of a file: what its first row says, else its name."""
    row = Candidate(path).first_object or {}
    return str(row.get("step", path.stem))


def _number(step: str) -> tuple[int, str]:
    return (int(step), "") if step.isdecimal() else (-1, step)


def _digest(row: Json) -> bytes:
    """Return what tells tasks without a `uid` apart: the prompt and the right answer."""
    return hashlib.sha256(dump([row.get("input"), row.get("gts")])).digest()[:16]


def _uid(row: Json) -> tuple[str, int, int]:
    """Return prompt, session and output of a `uid`; the prompt's own id may have underscores."""
    parts = str(row["uid"]).rsplit("_", 2)
    if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
        return parts[0], int(parts[1]), int(parts[2])
    return str(row["uid"]), 0, 0


def _session(row: Json) -> tuple[str, int]:
    return _uid(row)[:2]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _float(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) else None
