"""Measure the time and memory of importing a large log, and compare them with a plain read.

python bench/import_memory.py [--sizes 1000]

The sizes are megabytes. The ratio compares with a program that parses each row and writes it again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shared import SPOTTER, measure, size_parser

Row = dict[str, Any]
REPEATS = 8
COPY = """
import json, sys
with open(sys.argv[1]) as rows, open(sys.argv[2], "w") as copy:
    for row in rows:
        copy.write(json.dumps(json.loads(row)) + "\\n")
"""


def verl_row(number: int) -> Row:
    """Return a row of verl's dumps."""
    question = f"user\nTask {number // REPEATS}. " + "word " * 1000 + "\nassistant\n"
    answer = {"output": f"{number} " + "reply " * 3000, "gts": str(number // REPEATS)}
    return {"input": question, **answer, "score": float(number % 2), "step": 1}


def trace_row(number: int) -> Row:
    """Return an episode of verifiers."""
    prompt = f"Task {number // REPEATS}. " + "word " * 1000
    task = {"type": "Task", "data": {"id": f"task-{number // REPEATS}", "prompt": prompt}}
    nodes = [
        {"message": {"role": "user", "content": prompt}},
        {"parent": 0, "message": {"role": "assistant", "content": "reply " * 2000}},
    ]
    trace = {
        "task": task,
        "nodes": nodes,
        "rewards": {"right": {"score": number % 2, "weight": 1.0}},
        "calls": [{"node": 1, "usage": {"prompt_tokens": 1000, "completion_tokens": 2000}}],
        "ok": True,
    }
    return {"id": str(number), "task": task, "traces": [trace], "ok": True}


LOGS: dict[str, tuple[str, Callable[[int], Row]]] = {
    "verl": ("1.jsonl", verl_row),
    "verifiers": ("traces.jsonl", trace_row),
}


def write_log(path: Path, make: Callable[[int], Row], size: int) -> int:
    """Write rows until the file is so large; return how many."""

    def lines() -> Iterator[str]:
        number = 0
        while file.tell() < size:
            yield json.dumps(make(number)) + "\n"
            number += 1

    with path.open("w", encoding="utf-8") as file:
        return sum(1 for line in lines() if file.write(line))


def compare(name: str, megabytes: int, folder: Path) -> None:
    """Import a log of one kind, and print time, memory and the ratio."""
    file_name, make = LOGS[name]
    log = folder / file_name
    rows = write_log(log, make, megabytes * 1_000_000)
    imported = measure([SPOTTER, "import", log, "-o", folder / "run.jsonl"])
    copied = measure([sys.executable, "-c", COPY, log, folder / "copy"])
    print(
        f"{name}: {megabytes:,} MB, {rows:,} rows: {imported.seconds:.1f} s,"
        f" {imported.megabytes:.0f} MB,"
        f" {imported.seconds / copied.seconds:.1f} × the time of a plain copy"
    )


def main() -> None:
    """Import a log of each kind and size."""
    given = size_parser(__doc__, [1000]).parse_args()
    for size in given.sizes:
        for name in LOGS:
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                compare(name, size, Path(folder))


if __name__ == "__main__":
    main()
