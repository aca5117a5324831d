"""The record of a run, `<stem>_run.json`: its input, settings, versions and sessions."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from collector import __version__
from collector.artifacts import RECORD_SUFFIX, is_imported, sha256_of
from collector.atomic_files import Drafts, anything
from collector.collection.materialize import Materialized
from collector.collection.settings import CollectSettings
from collector.collection.settings.counting import Counting
from collector.collection.settings.rows import RowSettings
from collector.collection.settings.stopping import StoppingSettings
from collector.errors import FileError, UsageError
from collector.open_files import require_regular_file

PACKAGES = ("httpx", "httpx-aiohttp", "aiohttp", "orjson")


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


class PlanRecord(FileRecord):
    """A plan that added rollouts to the run."""

    added_rollout_count: int


class MaterializedRecord(_Part):
    """The rows to run."""

    sha256: str
    task_count: int
    rollout_count: int
    repeats: dict[str, int]
    plans: list[PlanRecord] = []
    undrawn_rollout_count: int = 0
    """Rollouts that a stopping rule saved: the materialized inputs do not have them."""


class StoppingRecord(_Part):
    """The rule by which tasks got fewer repeats than others."""

    rule: str
    pass_threshold: float


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


class IdentityRecord(_Part):
    """Who answered, as the head server's config says."""

    models: list[str] = []
    environments: list[str] = []
    endpoint_host: str | None = None


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
    input: FileRecord | None = None
    """The task file, unless it is unknown: only a plan can add to such a run."""
    settings: RecordedSettings
    materialized: MaterializedRecord
    following: MaterializedRecord | None = None
    """The rows that are about to take the place of the materialized inputs."""
    stopping: StoppingRecord | None = None
    origin: Origin | None = None
    """What the run was made from, if its rollouts were verified again instead of collected."""
    identity: IdentityRecord | None = None
    """What tells the run apart from others; None if no head server was asked."""
    sessions: list[Session] = []

    @property
    def lacks_rollouts(self) -> bool:
        """Tell whether the materialized inputs lack rollouts that a stopping rule saved."""
        parts = (self.materialized, self.following)
        return any(part.undrawn_rollout_count for part in parts if part)

    def fits(self, sha256: str) -> bool:
        """Tell whether the materialized inputs are the run's, also after a kill replacing them."""
        if self.following and self.following.sha256 == sha256:
            self.materialized = self.following
        self.following = None
        return self.materialized.sha256 == sha256

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
                "prompt_config": prompt_record(settings),
            }
        ),
        materialized=MaterializedRecord(
            sha256=materialized.sha256,
            task_count=materialized.task_count,
            rollout_count=materialized.rollout_count,
            repeats=materialized.repeats,
        ),
    )


def found_record(sha256: str, *, task_count: int, rollout_count: int) -> Record:
    """Describe a run that has no record, by its materialized inputs."""
    return Record(
        versions=versions(),
        settings=RecordedSettings(),
        materialized=MaterializedRecord(
            sha256=sha256, task_count=task_count, rollout_count=rollout_count, repeats={}
        ),
    )


def load_record(path: Path, *, is_continued: bool = True) -> Record | None:
    """Return the record at a path, or None without a file; raise FileError if it is not one.

    An imported run has a record of another kind. It cannot be continued: raise UsageError, or
    return None if the run is only read.
    """
    require_regular_file(path)
    try:
        text = path.read_bytes()
        return Record.model_validate_json(text)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        if is_imported(text):
            if not is_continued:
                return None
            raise UsageError(
                f"{path.name.removesuffix(RECORD_SUFFIX)}.jsonl in {path.parent} was imported from"
                " the logs of another framework: it cannot be resumed\n"
                "  what to do: give another output_jsonl_fpath, or start over with --overwrite"
            ) from None
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


def announce(path: Path, record: Record, following: MaterializedRecord) -> None:
    """Note at once which materialized inputs come next: a kill can part them from their record."""
    with Drafts() as drafts:
        save_record(path, record.model_copy(update={"following": following}), drafts)
        drafts.publish()


def stop_as(record: Record, settings: StoppingSettings) -> None:
    """Note by which rule this session stops; a run that lacks rollouts keeps its earlier rule."""
    if settings.until is not None:
        record.stopping = StoppingRecord(
            rule=settings.until, pass_threshold=settings.pass_threshold
        )
    elif not record.materialized.undrawn_rollout_count:
        record.stopping = None


def count_as(record: Record, settings: Counting) -> None:
    """Note what this session counts as zero: it may differ from session to session."""
    counting = {name: getattr(settings, name) for name in Counting.model_fields}
    record.settings = record.settings.model_copy(update=counting)


def prompt_record(settings: CollectSettings) -> FileRecord | None:
    """Describe the prompt template of the settings."""
    path = settings.prompt_config
    return FileRecord(path=path_text(path), sha256=sha256_of(path)) if path else None


def path_text(path: Path) -> str:
    """Return a path as valid text."""
    return os.fsencode(path).decode("utf-8", "replace")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
