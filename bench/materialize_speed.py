"""Measure what materializing costs: CPU seconds per 100 MB written, and memory at two sizes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPEATS = 8
SIZES_MB = (100, 1_000)
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
    with drafts.open(Path(sys.argv[2])) as out:
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


def measure(folder: Path, megabytes: int, repeats: int, seed: str) -> tuple[float, float, int]:
    """Return CPU seconds, megabytes written and peak memory in MB, in a process of its own."""
    tasks, out = folder / "tasks.jsonl", folder / "out.jsonl"
    write_tasks(tasks, megabytes, repeats)
    command = [sys.executable, "-c", CODE, str(tasks), str(out), str(repeats), seed]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        seconds = float(process.stdout.read())
        _, _, usage = _wait(process)
    return seconds, out.stat().st_size / 1e6, usage.ru_maxrss // 1024


def _wait(process: subprocess.Popen[str]) -> tuple[int, int, resource.struct_rusage]:
    pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return pid, status, usage


def main() -> None:
    """Measure and print."""
    print("| repeats | seed | written | CPU | CPU per 100 MB | goal | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        for megabytes in SIZES_MB:
            for repeats, seed in ((1, "no"), (REPEATS, "no"), (REPEATS, "seed")):
                seconds, written, memory = measure(Path(name), megabytes, repeats, seed)
                cost = seconds / written * 100
                print(
                    f"| {repeats} | {seed} | {written:.0f} MB | {seconds:.2f} s"
                    f" | {cost:.2f} s | {GOAL_SECONDS} s | {memory} MB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
