"""Measure the time and memory of importing a large log, and compare them with a plain read.

python bench/import_memory.py [--megabytes 1000]

The ratio compares with a program that parses each row and writes it again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from profile_speed import measure

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


def main() -> None:
    """Import a log of each kind, and print time, memory and the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=1000)
    megabytes = parser.parse_args().megabytes
    spotter = str(Path(sys.executable).with_name("spotter"))
    for name, (file_name, make) in LOGS.items():
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, file_name)
            rows = write_log(log, make, megabytes * 1_000_000)
            words = ["import", str(log), "-o", str(Path(folder, "run.jsonl"))]
            imported = measure([spotter, *words])
            copied = measure([sys.executable, "-c", COPY, str(log), str(Path(folder, "copy"))])
            ratio = imported.seconds / copied.seconds
            print(
                f"{name}: {megabytes:,} MB, {rows:,} rows: {imported.seconds:.1f} s,"
                f" {imported.megabytes:.0f} MB, {ratio:.1f} × the time of a plain copy"
            )


if __name__ == "__main__":
    main()
