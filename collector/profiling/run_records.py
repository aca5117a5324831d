"""Read from the collector's record, `<stem>_run.json`, what a profile needs of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from collector.artifacts import RECORD_SUFFIX, beside


def read_record(rollouts: Path) -> dict[str, Any]:
    """Return the record of a rollouts file; nothing if there is no readable one."""
    try:
        record = orjson.loads(beside(rollouts, RECORD_SUFFIX).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return record if isinstance(record, dict) else {}


def recorded_part(rollouts: Path, name: str) -> dict[str, Any]:
    """Return a part of the record of a rollouts file; nothing if it is not there."""
    part = read_record(rollouts).get(name)
    return part if isinstance(part, dict) else {}


def recorded_origin(rollouts: Path) -> str | None:
    """Return the file whose responses a rollouts file has, if it was made by verifying again.

    If the file is gone from there, the folder of both may have moved: a file of that name beside
    the rollouts is taken for it.
    """
    origin = recorded_part(rollouts, "origin").get("rollouts")
    path = origin.get("path") if isinstance(origin, dict) else None
    if not isinstance(path, str):
        return None
    sibling = rollouts.with_name(Path(path).name)
    is_moved = not Path(path).exists() and sibling.exists() and sibling != rollouts
    return str(sibling) if is_moved else path
