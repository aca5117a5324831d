"""Measure how long `spotter curate` takes to choose and write tasks of a large run.

    python bench/curate_speed.py [--tasks 100000] [--repeats 1] [--rounds 3]

The run is profiled first, which is not measured. The ratio is that of `spotter curate` to a copy of
the materialized inputs: what it costs to choose, compared with what it costs to write everything.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from generate import generate

RECIPE = """
keep: {pass_rate: [0.1, 0.9]}
drop: [zero_variance, unhealthy, masked, truncated]
order: random
"""


def main() -> None:
    """Print the seconds, the processor time, the memory and the ratio of each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    folder = Path("bench/data")
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"curate{chosen.tasks}x{chosen.repeats}"
    rollouts, inputs = Path(f"{stem}.jsonl"), Path(f"{stem}_materialized_inputs.jsonl")
    warehouse = Path(f"{stem}.duckdb")
    if not rollouts.exists():
        generate(chosen.tasks, chosen.repeats, stem)
    if not warehouse.exists():
        _spotter("profile", rollouts, "-w", warehouse, "--run-id", "run")
    for recipe in ("order: random\n", RECIPE):
        Path(f"{stem}.yml").write_text(recipe, encoding="utf-8")
        for _ in range(chosen.rounds):
            copied = time.perf_counter()
            shutil.copyfile(inputs, f"{stem}.copy")
            copied = time.perf_counter() - copied
            options = ("-w", warehouse, "-o", f"{stem}.train", "--overwrite")
            seconds, cpu, memory = _spotter("curate", "run", *options, "--recipe", f"{stem}.yml")
            print(
                f"{chosen.tasks:,} tasks, {len(recipe.splitlines())} lines of recipe:"
                f" {seconds:.2f} s, {cpu:.2f} s of processor time, {memory:,.0f} MB,"
                f" {seconds / copied:.1f} times a copy of the inputs"
            )


def _spotter(*words: str | Path) -> tuple[float, float, float]:
    program = str(Path(sys.executable).with_name("spotter"))
    started = time.perf_counter()
    process = subprocess.Popen([program, *map(str, words)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{words} failed")
    cpu = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - started, cpu, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
