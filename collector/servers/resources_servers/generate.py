"""Generate the tables and tasks of the built-in environments.

Run this module with `python -m` to write the files, or with `--check` to compare them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collector.jsonl import dump
from collector.servers.resources_servers.arithmetic import ArithmeticEnvironment
from collector.servers.resources_servers.environment import Environment
from collector.servers.resources_servers.workplace_assistant import (
    OWN_TABLES,
    WorkplaceAssistant,
    company,
)

FOLDER = Path(__file__).parent
# the seed of each file of tasks, and the number of tasks in it
TASKS: dict[type[Environment[Any]], dict[str, tuple[int, int]]] = {
    ArithmeticEnvironment: {"example": (0, 5), "train": (1, 180), "validation": (2, 90)},
    WorkplaceAssistant: {"example": (0, 5), "train": (1, 120), "validation": (2, 60)},
}


def generated_files() -> Iterator[tuple[Path, bytes]]:
    """Yield the path and content of every file, tables first: the tasks are built from them."""
    for name, content in company.table_files():
        yield OWN_TABLES / f"{name}.csv", content
    for environment, files in TASKS.items():
        folder = FOLDER / environment.__module__.rpartition(".")[2] / "data"
        for name, (seed, count) in files.items():
            rows = environment({}).tasks(seed, count)
            yield folder / f"{name}.jsonl", b"".join(dump(row) + b"\n" for row in rows)


def outdated_paths() -> Iterator[Path]:
    """Yield the paths of files that are missing or differ from the generated content."""
    for path, content in generated_files():
        if not path.is_file() or path.read_bytes() != content:
            yield path


def write_files() -> None:
    """Write every file."""
    for path, content in generated_files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or list those that are out of date."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file is out of date"
    )
    if not parser.parse_args(arguments).check:
        write_files()
        return 0
    paths = list(outdated_paths())
    for path in paths:
        sys.stderr.write(f"{path} is out of date: run the generator without --check\n")
    return 1 if paths else 0


if __name__ == "__main__":
    sys.exit(main())
