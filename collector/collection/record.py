"""The record of a run, `<stem>_run.json`: its input, settings, versions and sessions."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from collector import __version__
from collector.atomic_files import Drafts, anything
from collector.collection.materialize import Materialized
from collector.collection.problems import number_list
from collector.collection.settings import CollectSettings
from collector.collection.settings.counting import Counting
from collector.collection.settings.rows import MAY_CHANGE, RowSettings
from collector.errors import FileError

PACKAGES = ("httpx", "httpx-aiohttp", "aiohttp", "orjson")
FIXED = tuple(
    name for name, field in RowSettings.model_fields.items() if MAY_CHANGE not in field.metadata
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class FileRecord(_Part):
    """A file that the run was made from."""

    path: str
    sha256: str


class RecordedSettings(Counting, RowSettings):
    """The settings that decide which rollouts are run, and which count in the end."""

    model_config = ConfigDict(extra="ignore")

    keeps_own_agents: bool = True
    """Whether agent_name is only for rows without an agent; old records do not say, and it was."""
    prompt_config: FileRecord | None = None


class MaterializedRecord(_Part):
    """The rows to run."""

    sha256: str
    task_count: int
    rollout_count: int
    repeats: dict[str, int]


class Verifier(_Part):
    """A resources server that verified rollouts again."""

    reverify_mode: str
    config_sha256: str
    """The hash of its config, without addresses and secrets."""


class Origin(_Part):
    """The run whose rollouts were verified again."""

    rollouts: FileRecord
    inputs: FileRecord
    limit: int | None = None
    judge_failed_only: bool = False
    is_unsafe: bool = False
    """Whether a verifier did not say that it works without a session, and was called by force."""
    verifiers: dict[str, Verifier] = {}


class Session(_Part):
    """One call of the collector."""

    started_at: str
    ended_at: str | None = None
    status: str = "running"
    completed_rollout_count: int | None = None
    made_by: str = "collect"
    """The command that made it: only a run whose sessions are all the demo's is a demo."""


class Record(_Part):
    """A run and its sessions."""

    format: Literal[1] = 1
    versions: dict[str, str]
    input: FileRecord
    settings: RecordedSettings
    materialized: MaterializedRecord
    origin: Origin | None = None
    """What the run was made from, if its rollouts were verified again instead of collected."""
    sessions: list[Session] = []

    def start(self, made_by: str) -> None:
        """Note that a session of a command begins."""
        self.sessions.append(Session(started_at=_now(), made_by=made_by))

    def end(self, status: str, completed: int) -> None:
        """Note how the session ended."""
        session = self.sessions[-1]
        session.ended_at = _now()
        session.status = status
        session.completed_rollout_count = completed


def versions() -> dict[str, str]:
    """Return the versions of what writes the rollouts."""
    packages = {package: version(package) for package in PACKAGES}
    return {"spotter": __version__, "python": platform.python_version(), **packages}


def new_record(
    settings: CollectSettings, materialized: Materialized, *, keeps_own_agents: bool = False
) -> Record:
    """Describe a run that is about to begin."""
    return Record(
        versions=versions(),
        input=FileRecord(
            path=path_text(settings.input_jsonl_fpath), sha256=materialized.input_sha256
        ),
        settings=RecordedSettings.model_validate(
            {
                **dict(settings),
                "keeps_own_agents": keeps_own_agents,
                "prompt_config": _prompt_record(settings),
            }
        ),
        materialized=MaterializedRecord(
            sha256=materialized.sha256,
            task_count=materialized.task_count,
            rollout_count=materialized.rollout_count,
            repeats=materialized.repeats,
        ),
    )


def load_record(path: Path) -> Record | None:
    """Return the record at a path, or None without a file; raise FileError if it is not one."""
    try:
        return Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise FileError(
            f"{path} is not the record of a run:"
            f" {'.'.join(map(str, first['loc']))}: {first['msg']}\n"
            "  what to do: remove it, then resume: the materialized inputs are compared instead"
        ) from None


def save_record(path: Path, record: Record, drafts: Drafts) -> None:
    """Write the record as a draft."""
    with drafts.open(path, replaces=anything) as file:
        file.write(record.model_dump_json(indent=2).encode() + b"\n")


def differences(old: Record, settings: CollectSettings, tasks: Path) -> list[str]:
    """Return a line for each setting that no longer fits the run; more rows or repeats do fit.

    `tasks` is the file with the content of the input: it may still be a draft.
    """
    if old.origin:
        return ["it was made by `spotter reverify`, which can resume it"]
    before = old.settings
    is_same_map = before.agents_by_name == settings.agents_by_name
    changed = [
        name
        for name in FIXED
        if getattr(before, name) != getattr(settings, name)
        and not (is_same_map and name in ("agent_name", "agent_map"))
    ]
    lines = [
        f"{name}: it was {_setting_text(getattr(before, name))},"
        f" now {_setting_text(getattr(settings, name))}"
        for name in changed
    ]
    prompt = _prompt_record(settings)
    if _content(before.prompt_config) != _content(prompt):
        lines.append(
            f"prompt_config: it was {_file_text(before.prompt_config)}, now {_file_text(prompt)}"
        )
    if old.input.sha256 != sha256_of(tasks):
        lines.append(
            f"input_jsonl_fpath: {settings.input_jsonl_fpath} has other content than"
            f" {old.input.path} had"
        )
    if settings.limit and (before.limit is None or settings.limit < before.limit):
        limit = before.limit or "not limited"
        lines.append(f"limit: it was {limit}, and can only grow, not be {settings.limit}")
    return lines


def fewer_repeats(old: Record, materialized: Materialized) -> list[str]:
    """Return a line for each agent that would get fewer repeats than the run has."""
    return [
        f"num_repeats: it was {repeats} for {agent}, and can only grow,"
        f" not be {materialized.repeats.get(agent, 0)}"
        for agent, repeats in old.materialized.repeats.items()
        if materialized.repeats.get(agent, 0) < repeats
    ]


def cannot_grow(old: Record, settings: CollectSettings, materialized: Materialized) -> list[str]:
    """Return why more repeats would assign existing rollouts to other rows or agents."""
    if materialized.repeats == old.materialized.repeats:
        return []
    if settings.fan_out:
        return ["num_repeats: it cannot grow, because with fan_out the agents share the indices"]
    if materialized.mixed_lines:
        return [
            "num_repeats: it cannot grow, because different rows share a task index of their"
            f" own (line {number_list(materialized.mixed_lines)} of {settings.input_jsonl_fpath})"
        ]
    return []


def count_as(record: Record, settings: Counting) -> None:
    """Note what this session counts as zero: it may differ from session to session."""
    counting = {name: getattr(settings, name) for name in Counting.model_fields}
    record.settings = record.settings.model_copy(update=counting)


def sha256_of(path: Path) -> str:
    """Return the hash of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def _prompt_record(settings: CollectSettings) -> FileRecord | None:
    path = settings.prompt_config
    return FileRecord(path=path_text(path), sha256=sha256_of(path)) if path else None


def path_text(path: Path) -> str:
    """Return a path as valid text."""
    return os.fsencode(path).decode("utf-8", "replace")


def _content(file: FileRecord | None) -> str | None:
    return file.sha256 if file else None


def _setting_text(value: Any) -> str:
    """Return a setting as people type it; a pair is a shard."""
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _file_text(file: FileRecord | None) -> str:
    return f"{file.path} ({file.sha256[:12]})" if file else "not given"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
