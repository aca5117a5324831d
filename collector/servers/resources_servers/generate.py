"""Write the datasets of the built-in environments: `python -m` this module, or `--check` them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.jsonl import dump
from collector.servers.resources_servers.arithmetic import ArithmeticEnvironment
from collector.servers.resources_servers.environment import Environment
from collector.servers.resources_servers.workplace import WorkplaceEnvironment

FOLDER = Path(__file__).parent
ENVIRONMENTS: dict[str, type[Environment[Any]]] = {
    "arithmetic": ArithmeticEnvironment,
    "workplace": WorkplaceEnvironment,
}


@dataclass(frozen=True)
class Dataset:
    """A data file and what it is made from."""

    environment: str
    name: str
    seed: int
    count: int

    @property
    def path(self) -> Path:
        """Return where the file lies."""
        return FOLDER / self.environment / "data" / f"{self.name}.jsonl"

    def content(self) -> bytes:
        """Make the file's lines."""
        rows = ENVIRONMENTS[self.environment]({}).tasks(self.seed, self.count)
        return b"".join(dump(row) + b"\n" for row in rows)


DATASETS = (
    Dataset("arithmetic", "example", seed=0, count=5),
    Dataset("arithmetic", "train", seed=1, count=180),
    Dataset("arithmetic", "validation", seed=2, count=90),
    Dataset("workplace", "example", seed=0, count=5),
    Dataset("workplace", "train", seed=1, count=135),
    Dataset("workplace", "validation", seed=2, count=60),
)


def outdated() -> Iterator[Path]:
    """Name the files that differ from what the generator makes."""
    for dataset in DATASETS:
        if not dataset.path.is_file() or dataset.path.read_bytes() != dataset.content():
            yield dataset.path


def write() -> None:
    """Write every file."""
    for dataset in DATASETS:
        dataset.path.parent.mkdir(parents=True, exist_ok=True)
        dataset.path.write_bytes(dataset.content())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the datasets, or tell which are out of date."""
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
