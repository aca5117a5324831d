"""The record of a run, `<stem>_run.json`: what it was collected from, and how it went."""

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
from collector.atomic_files import Drafts
from collector.collection.materialize import Materialized
from collector.collection.problems import listed
from collector.collection.routing import DEFAULT
from collector.collection.settings import CollectSettings
from collector.errors import FileError

PACKAGES = ("httpx", "httpx-aiohttp", "aiohttp", "orjson")
FIXED = (
    *("agent_name", "agent_map", "fan_out"),
    *("environment_routing_mode", "environment_server_name", "environment_server_routes"),
    *("num_repeats_add_seed", "responses_create_params", "shard"),
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class FileRecord(_Part):
    """A file that went into the run."""

    path: str
    sha256: str


class RecordedSettings(_Part):
    """The settings that decide what is run, and what counts in the end."""

    agent_name: str | None
    agent_map: dict[str, str] = {}
    fan_out: dict[str, list[str]] = {}
    environment_routing_mode: str = "agent"
    environment_server_name: str | None = None
    environment_server_routes: dict[str, str] = {}
    keeps_own_agents: bool = True
    """Whether agent_name is only for rows without an agent: so it was in runs that say nothing."""
    limit: int | None
    num_repeats: int | dict[str, int]
    num_repeats_add_seed: bool
    interleave_repeats: bool = False
    responses_create_params: dict[str, Any]
    prompt_config: FileRecord | None
    shard: tuple[int, int] | None = None
    count_failure_classes_as_zero: list[str] = []
    count_missing_rollouts_as_zero: bool = False


class MaterializedRecord(_Part):
    """The rows to run."""

    sha256: str
    task_count: int
    rollout_count: int
    repeats: dict[str, int]


class Session(_Part):
    """One call of the collector."""

    started_at: str
    ended_at: str | None = None
    status: str = "running"
    completed_rollout_count: int | None = None


class Record(_Part):
    """A run and its sessions."""

    format: Literal[1] = 1
    versions: dict[str, str]
    input: FileRecord
    settings: RecordedSettings
    materialized: MaterializedRecord
    sessions: list[Session] = []

    def start(self) -> None:
        """Note that a session begins."""
        self.sessions.append(Session(started_at=_now()))

    def end(self, status: str, completed: int) -> None:
        """Note how the session ended."""
        session = self.sessions[-1]
        session.ended_at = _now()
        session.status = status
        session.completed_rollout_count = completed


def new_record(
    settings: CollectSettings, found: Materialized, *, keeps_own_agents: bool = False
) -> Record:
    """Describe a run that is about to begin."""
    return Record(
        versions={
            "spotter": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        input=FileRecord(path=_text(settings.input_jsonl_fpath), sha256=found.input_sha256),
        settings=recorded(settings, keeps_own_agents=keeps_own_agents),
        materialized=MaterializedRecord(
            sha256=found.sha256,
            task_count=found.task_count,
            rollout_count=found.rollout_count,
            repeats=found.repeats,
        ),
    )


def recorded(settings: CollectSettings, *, keeps_own_agents: bool = False) -> RecordedSettings:
    """Return the settings that decide what is run, and what counts in the end."""
    prompt = settings.prompt_config
    return RecordedSettings(
        agent_name=settings.agent_name,
        agent_map=settings.agent_map,
        fan_out=settings.fan_out,
        environment_routing_mode=settings.environment_routing_mode,
        environment_server_name=settings.environment_server_name,
        environment_server_routes=settings.environment_server_routes,
        keeps_own_agents=keeps_own_agents,
        interleave_repeats=settings.interleave_repeats,
        count_failure_classes_as_zero=list(settings.count_failure_classes_as_zero),
        count_missing_rollouts_as_zero=settings.count_missing_rollouts_as_zero,
        limit=settings.limit or None,
        num_repeats=1 if settings.num_repeats is None else settings.num_repeats,
        num_repeats_add_seed=settings.num_repeats_add_seed,
        responses_create_params=settings.responses_create_params,
        shard=settings.shard,
        prompt_config=FileRecord(path=_text(prompt), sha256=sha256_of(prompt)) if prompt else None,
    )


def load_record(path: Path) -> Record | None:
    """Read a record; without one there is nothing to compare with."""
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
    """Draft the record."""
    with drafts.open(path) as file:
        file.write(record.model_dump_json(indent=2).encode() + b"\n")


def differences(old: Record, settings: CollectSettings) -> list[str]:
    """Say what no longer matches the run; more repeats or a higher limit only add to it."""
    new = recorded(settings)
    same = ("agent_name", "agent_map") if _agent_map(old.settings) == _agent_map(new) else ()
    found = [
        f"{name}: it was {_shown(getattr(old.settings, name))}, now {_shown(getattr(new, name))}"
        for name in FIXED
        if name not in same and getattr(old.settings, name) != getattr(new, name)
    ]
    if _content(old.settings.prompt_config) != _content(new.prompt_config):
        found.append(
            f"prompt_config: it was {_named(old.settings.prompt_config)},"
            f" now {_named(new.prompt_config)}"
        )
    if old.input.sha256 != sha256_of(settings.input_jsonl_fpath):
        found.append(
            f"input_jsonl_fpath: {settings.input_jsonl_fpath} has other content than"
            f" {old.input.path} had"
        )
    if new.limit and (old.settings.limit is None or new.limit < old.settings.limit):
        before = old.settings.limit or "not limited"
        found.append(f"limit: it was {before}, and can only grow, not be {new.limit}")
    return found


def fewer_repeats(old: Record, found: Materialized) -> list[str]:
    """Say which agents would get fewer repeats than the run has."""
    return [
        f"num_repeats: it was {repeats} for {agent}, and can only grow,"
        f" not be {found.repeats.get(agent, 0)}"
        for agent, repeats in old.materialized.repeats.items()
        if found.repeats.get(agent, 0) < repeats
    ]


def cannot_grow(old: Record, settings: CollectSettings, found: Materialized) -> list[str]:
    """Say why more repeats would give rollouts that are there to other rows or agents."""
    if found.repeats == old.materialized.repeats:
        return []
    if settings.fan_out:
        return ["num_repeats: it cannot grow, because with fan_out the agents share the indices"]
    if found.mixed_lines:
        return [
            "num_repeats: it cannot grow, because different rows share a task index of their"
            f" own (line {listed(found.mixed_lines)} of {settings.input_jsonl_fpath})"
        ]
    return []


def count_as(record: Record, settings: CollectSettings) -> None:
    """Note what this session counts as zero: it may differ from session to session."""
    record.settings.count_failure_classes_as_zero = list(settings.count_failure_classes_as_zero)
    record.settings.count_missing_rollouts_as_zero = settings.count_missing_rollouts_as_zero


def sha256_of(path: Path) -> str:
    """Return the hash of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def _agent_map(settings: RecordedSettings) -> dict[str, str]:
    default = {DEFAULT: settings.agent_name} if settings.agent_name else {}
    return {**settings.agent_map, **default}


def _text(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _content(file: FileRecord | None) -> str | None:
    return file.sha256 if file else None


def _shown(value: Any) -> str:
    """Write a setting as people type it; a pair is a shard."""
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _named(file: FileRecord | None) -> str:
    return f"{file.path} ({file.sha256[:12]})" if file else "not given"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
