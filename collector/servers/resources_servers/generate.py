"""Write the tables and tasks of the built-in environments: `python -m` this, or `--check` them."""

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
# what each file of tasks is made from: a seed, and how many there are
TASKS: dict[type[Environment[Any]], dict[str, tuple[int, int]]] = {
    ArithmeticEnvironment: {"example": (0, 5), "train": (1, 180), "validation": (2, 90)},
    WorkplaceAssistant: {"example": (0, 5), "train": (1, 120), "validation": (2, 60)},
}


def contents() -> Iterator[tuple[Path, bytes]]:
    """Give every file and what belongs into it: tables first, since tasks are made from them."""
    for name, content in company.files():
        yield OWN_TABLES / f"{name}.csv", content
    for environment, files in TASKS.items():
        folder = FOLDER / environment.__module__.rpartition(".")[2] / "data"
        for name, (seed, count) in files.items():
            rows = environment({}).tasks(seed, count)
            yield folder / f"{name}.jsonl", b"".join(dump(row) + b"\n" for row in rows)


def outdated() -> Iterator[Path]:
    """Name the files that differ from what the generator makes."""
    for path, content in contents():
        if not path.is_file() or path.read_bytes() != content:
            yield path


def write() -> None:
    """Write every file."""
    for path, content in contents():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or tell which are out of date."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    if not parser.parse_args(arguments).check:
        write()
        return 0
    paths = list(outdated())
    for path in paths:
        sys.stderr.write(f"{path} differs from what the generator makes: run it without --check\n")
    return 1 if paths else 0


if __name__ == "__main__":
    sys.exit(main())
