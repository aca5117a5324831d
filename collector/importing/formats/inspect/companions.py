"""Logs that have samples of another log."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

SHARDS = ".shards"
RECOVERED = "-recovered.eval"


def group_by_owner(files: Collection[Path]) -> dict[Path, list[Path]]:
    """Return the logs that are runs of their own, each with those whose samples it has already."""
    known = set(files)
    groups: dict[Path, list[Path]] = {}
    for path in files:
        owner = _owner(path, known)
        groups.setdefault(owner, []).extend([] if owner == path else [path])
    return {path: groups[path] for path in files if path in groups}


def _owner(path: Path, known: set[Path]) -> Path:
    """Return the log that has the samples of a log: mostly the log itself."""
    wider = next((one for one in _wider(path) if one in known), None)
    return _owner(wider, known) if wider else path


def _wider(path: Path) -> Iterator[Path]:
    """Give the names of logs that would have the samples of a log.

    `<name>-recovered.eval` has those of a killed run's log, and `<name>.eval` those of the shards
    `<name>.shards/<shard>/<log>`.
    """
    yield path.with_name(f"{path.stem}{RECOVERED}")
    folder = path.parent.parent
    name = folder.name.removesuffix(SHARDS)
    if folder.name.endswith(SHARDS) and name:
        yield folder.with_name(f"{name}{RECOVERED}")
        yield folder.with_name(f"{name}.eval")
