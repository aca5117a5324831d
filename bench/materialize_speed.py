"""Measure what materializing costs: CPU seconds per 100 MB written, and memory at two sizes.

    python bench/materialize_speed.py [--sizes 100 1000]

The sizes are megabytes written.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from shared import measure, size_parser

REPEATS = 8
GOAL_SECONDS = 1.0
ROW_BYTES = 10_000
CODE = """
import sys, time
from pathlib import Path
from collector.collection.materialize import materialize
from collector.collection.settings.rows import RowSettings
from collector.atomic_files import Drafts
settings = RowSettings(agent_name="agent", num_repeats=int(sys.argv[3]),
                       num_repeats_add_seed=sys.argv[4] == "seed",
                       responses_create_params={"temperature": 0.7})
before = time.process_time()
with Drafts() as drafts:
    with drafts.open(Path(sys.argv[2]), replaces=lambda path: True) as out:
        materialize(Path(sys.argv[1]), settings, out)
    drafts.publish()
print(time.process_time() - before)
"""


def write_tasks(path: Path, megabytes: int, repeats: int) -> None:
    """Write inputs that become about so many megabytes."""
    turns = [{"role": "user", "content": "How many tasks are there? " * 8} for _ in range(40)]
    params = {"input": turns, "temperature": 1.0}
    with path.open("w", encoding="utf-8") as file:
        for number in range(megabytes * 1_000_000 // ROW_BYTES // repeats):
            file.write(json.dumps({"id": number, "responses_create_params": params}) + "\n")


def materialize(folder: Path, megabytes: int, repeats: int, seed: str) -> None:
    """Materialize tasks in a process of its own, and print a line."""
    tasks, out = folder / "tasks.jsonl", folder / "out.jsonl"
    write_tasks(tasks, megabytes, repeats)
    taken = measure([sys.executable, "-c", CODE, tasks, out, str(repeats), seed])
    seconds, written = float(taken.printed), out.stat().st_size / 1e6
    print(
        f"| {repeats} | {seed} | {written:.0f} MB | {seconds:.2f} s"
        f" | {seconds / written * 100:.2f} s | {GOAL_SECONDS} s | {taken.megabytes:.0f} MB |",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    given = size_parser(__doc__, [100, 1_000]).parse_args()
    print("| repeats | seed | written | CPU | CPU per 100 MB | goal | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for megabytes in given.sizes:
            for repeats, seed in ((1, "no"), (REPEATS, "no"), (REPEATS, "seed")):
                materialize(Path(name), megabytes, repeats, seed)


if __name__ == "__main__":
    main()
