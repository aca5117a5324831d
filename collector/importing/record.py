"""The record of an imported run, `<stem>_run.json`: whose run it is, and which files it was."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

from collector import __version__
from collector.artifacts import sha256_of
from collector.importing.attempts import Json, Log
from collector.importing.encoding import encode_document


def common_folder(paths: list[Path]) -> Path:
    """Return the folder that all files are in."""
    return Path(os.path.commonpath([path.parent for path in paths]))


def record_bytes(log: Log, *, format_name: str, reward: str | None, folder: Path) -> bytes:
    """Return the record of a run, with the names of its files inside a folder."""
    record: Json = {
        "versions": {"spotter": __version__},
        "identity": asdict(log.identity),
        "imported": {
            "format": format_name,
            "reward": reward,
            "files": [
                {"name": _name(path, folder), "sha256": sha256_of(path)} for path in log.files
            ],
            "losses": log.losses(),
        },
    }
    return encode_document(record)


def _name(path: Path, folder: Path) -> str:
    return os.fsencode(path.relative_to(folder)).decode("utf-8", "replace")
