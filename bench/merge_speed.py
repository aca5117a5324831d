"""Compare the time of `spotter merge` for 8 shards with that of profiling the whole run.

    python bench/merge_speed.py [--sizes 16000 160000] [--rounds 2] [--folder bench/data]

The time to profile the shards is not counted: many machines do that at once.
"""

from __future__ import annotations

import re
from pathlib import Path

from shared import REPEATS, SPOTTER, best, generated_run, measure, size_parser

SHARDS = 8
TASK = re.compile(rb'"_ng_task_index":(\d+)')


def split(stem: Path, folder: Path, count: int) -> list[Path]:
    """Cut the files of a run into shards by task, and return their rollouts."""
    folder.mkdir(exist_ok=True)
    for suffix in (".jsonl", "_materialized_inputs.jsonl"):
        files = [(folder / f"part{number}{suffix}").open("wb") for number in range(count)]
        with stem.with_name(stem.name + suffix).open("rb") as source:
            for line in source:
                found = TASK.search(line)
                assert found
                files[int(found[1]) % count].write(line)
        for file in files:
            file.close()
    return [folder / f"part{number}.jsonl" for number in range(count)]


def compare(size: int, folder: Path, rounds: int) -> None:
    """Measure one size and print a line."""
    rollouts = generated_run(folder, size)
    count = min(SHARDS, -(-size // REPEATS))
    shards = split(rollouts.with_suffix(""), folder / f"shards{size}", count)
    for shard in shards:
        words = ("--run-id", "r", "--shard", "--no-files", "-w", str(shard.with_suffix(".duckdb")))
        measure([SPOTTER, "profile", str(shard), *words])
    whole, merged = folder / f"whole{size}.duckdb", folder / f"merged{size}.duckdb"
    output = folder / f"out{size}"
    output.mkdir(exist_ok=True)
    profiles, merges = [], []
    for _ in range(rounds):
        for path in (whole, merged):
            path.unlink(missing_ok=True)
        words = ("-w", str(whole), "--run-id", "r", "--output-dir", str(output))
        profiles.append(measure([SPOTTER, "profile", rollouts, *words]))
        warehouses = [str(shard.with_suffix(".duckdb")) for shard in shards]
        merges.append(
            measure([SPOTTER, "merge", *warehouses, "-w", str(merged), "-o", str(output)])
        )
    one, other = best(profiles), best(merges)
    ratio = one.seconds / other.seconds
    kept = sum(shard.with_suffix(".duckdb").stat().st_size for shard in shards)
    print(
        f"{size:>8}  {one.seconds:>9.2f}  {other.seconds:>7.2f}  {ratio:>5.1f}x"
        f"  {one.megabytes:>10.0f}  {other.megabytes:>8.0f}  {kept / 1e6:>9.0f}",
        flush=True,
    )


def main() -> None:
    """Compare all sizes."""
    given = size_parser(__doc__, [16_000, 160_000], rounds=2).parse_args()
    print("rollouts  profile s  merge s  ratio  profile MB  merge MB  shards MB")
    for size in given.sizes:
        compare(size, given.folder, given.rounds)


if __name__ == "__main__":
    main()
