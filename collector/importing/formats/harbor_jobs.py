"""What the folders of a Harbor job say: its trials, and how many there were to be."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.errors import FileError
from collector.importing.attempts import Json
from collector.importing.candidates import Candidate
from collector.importing.json_values import count, items, part, text

RESULT, CONFIG, LOCK = "result.json", "config.json", "lock.json"
# settings that are the default are not in the file, so each of these may be absent
JOB, PLANNED = ("job_name", "jobs_dir"), ("n_attempts", "agents", "datasets", "tasks")
DEEPEST = 5
"""How many folders below its trial a file of Harbor may lie."""


@dataclass(frozen=True)
class AgentKey:
    """Who made a trial, as its settings name it."""

    agent: str
    model: str

    @classmethod
    def of(cls, config: Json) -> AgentKey:
        """Return the key of the settings of an agent."""
        name = text(config.get("name")) or text(config.get("import_path"))
        return cls(name or "", text(config.get("model_name")) or "")


@dataclass(frozen=True)
class TrialFile:
    """Where a trial is, and what it is sorted by."""

    path: Path
    task: str
    checksum: str
    key: AgentKey
    started_at: str
    name: str
    id: str
    regrades: str | None = None
    """The id of the trial whose outputs were graded again."""


def newest_grades(trials: list[TrialFile]) -> set[TrialFile]:
    """Return of trials in the order of time those that were not graded again."""
    regrades = {one.id: one.regrades for one in trials}
    return set({_graded_first(one, regrades): one for one in trials}.values())


def _graded_first(one: TrialFile, regrades: dict[str, str | None]) -> str:
    """Return the id of the trial that made the outputs of this one."""
    first, seen = one.regrades or one.id, {one.id}
    while (earlier := regrades.get(first)) and first not in seen:
        seen.add(first)
        first = earlier
    return first


def read_trial(path: Path) -> Json:
    """Return the result of a trial; raise FileError if the file is not one."""
    row = Candidate(path).whole_object
    if row is None or not is_trial(row):
        raise FileError(f"{path} is not the result of a trial of Harbor")
    return row


def is_trial(row: Json) -> bool:
    """Tell the result of a trial from other results."""
    return "trial_name" in row and "task_name" in row


def is_job(row: Json) -> bool:
    """Tell the result, the settings and the lock file of a job."""
    is_config = not row.keys().isdisjoint(JOB) and not row.keys().isdisjoint(PLANNED)
    return "n_total_trials" in row or is_config or ("harbor" in row and "trials" in row)


def trial_file(path: Path) -> TrialFile | None:
    """Return what a trial is sorted by; None if its result is not complete."""
    row = Candidate(path).whole_object
    if row is None or not is_trial(row):
        return None
    config = part(row, "config")
    agent = part(config, "agent") or {"name": part(row, "agent_info").get("name")}
    return TrialFile(
        path=path,
        task=str(row["task_name"]),
        checksum=text(row.get("task_checksum")) or "",
        key=AgentKey.of(agent),
        started_at=text(row.get("started_at")) or "",
        name=str(row["trial_name"]),
        id=text(row.get("id")) or str(path),
        regrades=text(part(config, "source_trial").get("trial_id")),
    )


@functools.lru_cache(maxsize=10_000)
def is_in_trial(folder: Path, depth: int = DEEPEST) -> bool:
    """Tell whether a folder is that of a trial, or lies in one."""
    if any(_names_trial(folder / name) for name in (RESULT, CONFIG)):
        return True
    return depth > 0 and folder.parent != folder and is_in_trial(folder.parent, depth - 1)


def planned_tasks(job: Path) -> Iterator[tuple[AgentKey, str, int]]:
    """Give how often each task was to be tried by each agent, from the lock file of a job."""
    planned: Counter[tuple[AgentKey, str]] = Counter()
    for trial in items(_object(job / LOCK), "trials"):
        name = text(part(trial, "task").get("name"))
        if name:
            planned[AgentKey.of(part(trial, "agent")), name] += 1
    for (key, name), trials in planned.items():
        yield key, name, trials


def planned_attempts(job: Path) -> int:
    """Return how often a job was to try each task, from its settings; 0 if it has none."""
    config = _object(job / CONFIG)
    return count(config.get("n_attempts", 1)) if is_job(config) else 0


def harbor_version(job: Path) -> str | None:
    """Return the version of Harbor that ran a job."""
    return text(part(_object(job / LOCK), "harbor").get("version"))


def _names_trial(path: Path) -> bool:
    return path.is_file() and "trial_name" in _object(path)


def _object(path: Path) -> Json:
    found: Any = Candidate(path).whole_object if path.is_file() else None
    return found or {}
