"""Measure how long `spotter curate` takes to choose and write tasks of a large run.

    python bench/curate_speed.py [--sizes 100000] [--rounds 3]

The sizes are tasks, with one rollout each. The run is profiled first, which is not measured. The
ratio is that of `spotter curate` to a copy of the materialized inputs: what it costs to choose,
compared with what it costs to write everything.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from shared import SPOTTER, generated_run, measure, size_parser

RECIPE = """
keep: {pass_rate: [0.1, 0.9]}
drop: [zero_variance, unhealthy, masked, truncated]
order: random
"""


def curate(tasks: int, folder: Path, rounds: int) -> None:
    """Print the seconds, the processor time, the memory and the ratio of each round."""
    rollouts = generated_run(folder, tasks, repeats=1)
    stem = rollouts.with_suffix("")
    warehouse, recipe_file = stem.with_suffix(".duckdb"), stem.with_suffix(".yml")
    if not warehouse.exists():
        measure([SPOTTER, "profile", rollouts, "-w", warehouse, "--run-id", "run"])
    options = ("-w", warehouse, "-o", f"{stem}.train", "--overwrite", "--recipe", recipe_file)
    for recipe in ("order: random\n", RECIPE):
        recipe_file.write_text(recipe, encoding="utf-8")
        for _ in range(rounds):
            started = time.perf_counter()
            shutil.copyfile(f"{stem}_materialized_inputs.jsonl", f"{stem}.copy")
            copied = time.perf_counter() - started
            taken = measure([SPOTTER, "curate", "run", *options])
            print(
                f"{tasks:,} tasks, {len(recipe.splitlines())} lines of recipe:"
                f" {taken.seconds:.2f} s, {taken.cpu_seconds:.2f} s of processor time,"
                f" {taken.megabytes:,.0f} MB,"
                f" {taken.seconds / copied:.1f} times a copy of the inputs"
            )


def main() -> None:
    """Measure all sizes."""
    given = size_parser(__doc__, [100_000]).parse_args()
    for size in given.sizes:
        curate(size, given.folder, given.rounds)


if __name__ == "__main__":
    main()
