"""Gather the datasets that a config lists for its agents into one task file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.atomic_files import Drafts
from collector.bundled_files import ORIGIN, find_file
from collector.errors import FileError, UsageError
from collector.jsonl import dump, parse_object
from collector.servers.config import ServerConfig

Row = dict[str, Any]
AGENTS = "responses_api_agents"


def write_split(servers: list[ServerConfig], split: str, target: Path) -> int:
    """Write every row of a split with the agent it is for; return how many there are."""
    count = 0
    found = [(server, path) for server in servers for path in _datasets(server, split)]
    if not found:
        listed = sorted({kind for server in servers for kind in _types(server)})
        raise UsageError(
            f"no dataset of type {split} in the config (there are: {', '.join(listed) or 'none'})"
        )
    with Drafts() as drafts:
        with drafts.open(target) as file:
            for server, path in found:
                for row in _rows(path):
                    agent = {"type": AGENTS, "name": server.name}
                    file.write(dump({**row, "agent_ref": row.get("agent_ref", agent)}) + b"\n")
                    count += 1
        drafts.publish()
    return count


def _listed(server: ServerConfig) -> list[Row]:
    given = server.settings.get("datasets") if server.kind == AGENTS else None
    if given is not None and not isinstance(given, list):
        raise UsageError(f"{server.name}: datasets must be a list of {{name, type, jsonl_fpath}}")
    return [dataset for dataset in given or [] if isinstance(dataset, dict)]


def _types(server: ServerConfig) -> list[str]:
    return [str(dataset.get("type")) for dataset in _listed(server)]


def _datasets(server: ServerConfig, split: str) -> Iterator[Path]:
    for dataset in _listed(server):
        if dataset.get("type") == split:
            origin = Path(server.settings.get(ORIGIN, "."))
            yield find_file(str(dataset.get("jsonl_fpath")), origin)


def _rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield parse_object(line)
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from error
