"""Read from the record of a run what tells it apart from other runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from collector.artifacts import TAG_CHARACTERS, TAG_NAME
from collector.profiling.run_records import read_record

# what the models read of it, with the types that DuckDB cannot infer
IDENTITY_FIELDS = (
    "recorded_models varchar[], recorded_environments varchar[], started_at timestamp,"
    " ended_at timestamp, made_with varchar, endpoint_host varchar, task_file varchar,"
    " task_file_hash varchar"
)


def recorded_identity(rollouts: Path) -> dict[str, Any]:
    """Return who and what made the run, and when; unknown without a readable record."""
    record = read_record(rollouts)
    identity = _object(record.get("identity"))
    task_file = _object(record.get("input"))
    sessions = record.get("sessions")
    spans = [_object(session) for session in sessions] if isinstance(sessions, list) else []
    return {
        "recorded_models": _texts(identity.get("models")),
        "recorded_environments": _texts(
            identity.get("environments") or [identity.get("environment")]
        ),
        "started_at": min(_times([identity, *spans], "started_at"), default=None),
        "ended_at": max(_times([identity, *spans], "ended_at"), default=None),
        "made_with": _maker(identity, _object(record.get("versions"))),
        "endpoint_host": _text(identity.get("endpoint_host")),
        "task_file": _text(task_file.get("path")),
        "task_file_hash": _text(task_file.get("sha256")),
    }


def recorded_tags(rollouts: Path) -> dict[str, str]:
    """Return the tags that the run was collected or imported with."""
    tags = _object(_object(read_record(rollouts).get("identity")).get("tags"))
    return {
        name: value[:TAG_CHARACTERS]
        for name, value in tags.items()
        if isinstance(value, str) and TAG_NAME.fullmatch(name)
    }


def _maker(identity: dict[str, Any], versions: dict[str, Any]) -> str | None:
    framework = _text(identity.get("framework"))
    if framework:
        return " ".join(filter(None, (framework, _text(identity.get("framework_version")))))
    spotter = _text(versions.get("spotter"))
    return f"Spotter {spotter}" if spotter else None


def _times(parts: Iterable[dict[str, Any]], name: str) -> list[datetime]:
    return [time for part in parts if (time := _time(part.get(name)))]


def _time(value: object) -> datetime | None:
    """Return a time in UTC, without its zone as DuckDB keeps it."""
    try:
        time = datetime.fromisoformat(str(value)) if isinstance(value, str) else None
    except ValueError:
        return None
    if time is None or time.tzinfo is None:
        return time
    return time.astimezone(UTC).replace(tzinfo=None)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
