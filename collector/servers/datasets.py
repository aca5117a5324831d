"""Combine the datasets that a config lists for its agents into one file of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from collector.bundled_files import ORIGIN, find_file
from collector.errors import UsageError
from collector.servers.config import ServerConfig
from collector.servers.task_files import read_tasks, write_tasks

Row = dict[str, Any]
AGENTS = "responses_api_agents"


def write_split(servers: list[ServerConfig], split: str, target: BinaryIO) -> int:
    """Write every row of a split with its agent, and return the number of rows."""
    datasets = [(server, path) for server in servers for path in _dataset_paths(server, split)]
    if not datasets:
        types = sorted({kind for server in servers for kind in _dataset_types(server)})
        raise UsageError(
            f"no dataset of type {split} in the config (there are: {', '.join(types) or 'none'})"
        )
    return write_tasks(
        target,
        (
            {**row, "agent_ref": row.get("agent_ref", {"type": AGENTS, "name": server.name})}
            for server, path in datasets
            for _, row in read_tasks(path)
        ),
    )


def _dataset_entries(server: ServerConfig) -> list[Row]:
    entries = server.settings.get("datasets") if server.kind == AGENTS else None
    if entries is not None and not isinstance(entries, list):
        raise UsageError(f"{server.name}: datasets must be a list of {{name, type, jsonl_fpath}}")
    return [entry for entry in entries or [] if isinstance(entry, dict)]


def _dataset_types(server: ServerConfig) -> list[str]:
    return [str(entry.get("type")) for entry in _dataset_entries(server)]


def _dataset_paths(server: ServerConfig, split: str) -> Iterator[Path]:
    for entry in _dataset_entries(server):
        if entry.get("type") == split:
            origin = Path(server.settings.get(ORIGIN, "."))
            yield find_file(str(entry.get("jsonl_fpath")), origin)
