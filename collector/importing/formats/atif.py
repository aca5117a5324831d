"""ATIF: trajectories in files of their own, such as those that `spotter export` writes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.importing.asked import asked_row
from collector.importing.atif_steps import step_items
from collector.importing.attempts import Attempt, Expected, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats.atif_files import (
    Trajectory,
    TrajectoryFiles,
    neighbour,
)
from collector.importing.json_scanner import JsonScanner
from collector.importing.json_values import numbers, part, text
from collector.importing.reading import Meter, Reading
from collector.importing.record import common_folder
from collector.terminal import counted_noun

NAME = "atif"
VERSION = b'"ATIF-v'
SPOTTER = "spotter"
"""The field of `extra` in which `spotter export` keeps what ATIF has no place for."""


def claim(file: Candidate) -> Claim | None:
    """Tell a trajectory by its schema."""
    return Claim.LOG if VERSION in file.head and _schema(file.head).startswith("ATIF-v") else None


def _schema(head: bytes) -> str:
    """Return the schema that a document names among its own fields, not inside of them."""
    scanner = JsonScanner(io.BytesIO(head).read)
    try:
        for name in scanner.members():
            if name == "schema_version":
                return str(scanner.parse(len(head)))
    except ValueError:  # the head ends inside of a value
        return ""
    return ""


@dataclass(frozen=True)
class _Entry:
    """A trajectory that is an attempt of its own."""

    path: Path
    task: str
    rollout: int
    run_id: str | None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run for all trajectories, or one per run that was exported."""
    folder = common_folder(files)
    runs: dict[str | None, list[_Entry]] = {}
    for entry in _entries(files, folder):
        runs.setdefault(entry.run_id, []).append(entry)
    return [AtifLog(entries, reading, run_id or folder.name) for run_id, entries in runs.items()]


def _entries(files: list[Path], folder: Path) -> Iterator[_Entry]:
    """Give the trajectories that are not parts of others: of subagents, or continuations."""
    found: list[tuple[_Entry, bool, str | None]] = []
    parts: set[Path] = set()
    sessions: set[str] = set()
    reader = TrajectoryFiles(Meter())
    for path in files:
        one = reader.read(path)
        session = text(one.values.get("session_id"))
        found.append((_entry(path, one, folder), one.is_continuation, session))
        parts |= set(_referenced_files(one))
        if one.has_session_references:
            sessions |= {str(ref.get("session_id")) for ref in one.subagents()} - {session}
    for entry, is_continuation, session in found:
        if not (is_continuation or session in sessions or entry.path.resolve() in parts):
            yield entry


def _referenced_files(one: Trajectory) -> Iterator[Path]:
    names: list[Any] = [one.continuation, *(ref.get("trajectory_path") for ref in one.subagents())]
    for name in names:
        target = neighbour(one.path, name) if isinstance(name, str) else None
        if target:
            yield target


def _entry(path: Path, one: Trajectory, folder: Path) -> _Entry:
    ours = part(part(one.values, "extra"), SPOTTER)
    rollout = ours.get("rollout_index")
    if isinstance(rollout, int) and text(ours.get("task")):
        return _Entry(path, str(ours["task"]), rollout, text(ours.get("run_id")))
    return _Entry(path, path.relative_to(folder).as_posix(), 0, None)


class AtifLog:
    """The attempts of some trajectories."""

    def __init__(self, entries: list[_Entry], reading: Reading, label: str) -> None:
        """Take the trajectories; the first one tells who made them."""
        self._entries = entries
        self._reading = reading
        self._label = label
        self._files = TrajectoryFiles(reading.meter)
        self._first = TrajectoryFiles(Meter()).read(entries[0].path)

    @property
    def identity(self) -> Identity:
        """Return the agent and the model of the first trajectory."""
        agent = self._first.agent
        model = text(agent.get("model_name"))
        return Identity(
            framework=NAME,
            framework_version=text(self._first.values.get("schema_version")),
            models=(model,) if model else (),
            agent=text(agent.get("name")),
        )

    @property
    def label(self) -> str:
        """Return the run that was exported, or the folder."""
        return self._label

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the trajectories."""
        return tuple(entry.path for entry in self._entries)

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per trajectory."""
        for entry in self._entries:
            yield self._attempt(entry)

    def expected(self) -> Iterator[Expected]:
        """Yield nothing: trajectories do not say what else was to be tried."""
        return iter(())

    def losses(self) -> list[str]:
        """Say what of the trajectories is not in the run."""
        return trajectory_losses(self._files)

    def _attempt(self, entry: _Entry) -> Attempt:
        chain = self._files.chain(entry.path)
        first, last = chain[0], chain[-1]
        ours = part(part(first.values, "extra"), SPOTTER)
        steps = [*first.steps, *(step for one in chain[1:] for step in one.own_steps)]
        prompt, rest = split_steps(steps, ours.get("prompt_steps"))
        asked = part(ours, "asked")
        metrics = numbers(part(ours, "metrics"))
        reward = ours.get("reward") if isinstance(ours.get("reward"), int | float) else None
        cost = last.cost()
        return Attempt(
            task=entry.task,
            rollout=entry.rollout,
            asked={**asked_row(step_items(prompt)), **asked},
            reward=self._reading.rewards.choose({"reward": reward, **metrics}, reward),
            output=step_items(rest),
            usage=last.usage(),
            metrics={**metrics, **({"cost_usd": cost} if cost is not None else {})},
            details={**part(ours, "fields"), **trajectory_details(chain, self._files)},
            agent=text(first.agent.get("name")),
            model=text(first.agent.get("model_name")),
            tools=first.tools(),
            incomplete=text(ours.get("incomplete")),
        )


def split_steps(steps: list[Json], known: Any) -> tuple[list[Json], list[Json]]:
    """Part the steps of the prompt, of which `known` may be the number, from those that follow."""
    if isinstance(known, int) and 0 <= known <= len(steps):
        return steps[:known], steps[known:]
    for count, step in enumerate(steps):
        if step.get("source") not in ("system", "user") or step.get("observation"):
            return steps[:count], steps[count:]
    return steps, []


def trajectory_details(chain: Iterable[Trajectory], files: TrajectoryFiles) -> Json:
    """Return what trajectories say besides their steps."""
    details: Json = {}
    for one in chain:
        for name in ("session_id", "trajectory_id", "notes"):
            if text(one.values.get(name)):
                details.setdefault(name, one.values[name])
        if subagents := files.subagents(one):
            details.setdefault("subagents", []).extend(subagents)
    return details


def trajectory_losses(files: TrajectoryFiles) -> list[str]:
    """Say what of the trajectories was left out."""
    said = ["the times and the tokens of single steps stay in the trajectories"]
    if files.token_count:
        ids = counted_noun(files.token_count, "trajectory").replace("trajectorys", "trajectories")
        said.append(f"{ids} had token ids or log probabilities, which are not carried over")
    return said + files.lost
