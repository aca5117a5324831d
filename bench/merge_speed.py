"""Compare the time of `spotter merge` for 8 shards with that of profiling the whole run.

    python bench/merge_speed.py [--sizes 16000 160000] [--rounds 2] [--folder bench/data]

The time to profile the shards is not counted: many machines do that at once.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from generate import generate
from profile_speed import HERE, REPEATS, best, measure

SHARDS = 8
TASK = re.compile(rb'"_ng_task_index":(\d+)')
SPOTTER = str(Path(sys.executable).with_name("spotter"))


def split(stem: Path, folder: Path) -> list[Path]:
    """Cut the files of a run into shards by task, and return their rollouts."""
    folder.mkdir(exist_ok=True)
    for suffix in (".jsonl", "_materialized_inputs.jsonl"):
        files = [(folder / f"part{number}{suffix}").open("wb") for number in range(SHARDS)]
        with stem.with_name(stem.name + suffix).open("rb") as source:
            for line in source:
                found = TASK.search(line)
                assert found
                files[int(found[1]) % SHARDS].write(line)
        for file in files:
            file.close()
    return [folder / f"part{number}.jsonl" for number in range(SHARDS)]


def compare(size: int, folder: Path, rounds: int) -> None:
    """Measure one size and print a line."""
    stem = folder / f"run{size}"
    if not stem.with_name(f"{stem.name}.jsonl").exists():
        generate(-(-size // REPEATS), REPEATS, stem)
    shards = split(stem, folder / f"shards{size}")
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
        profiles.append(measure([SPOTTER, "profile", f"{stem}.jsonl", *words]))
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[16_000, 160_000])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print("rollouts  profile s  merge s  ratio  profile MB  merge MB  shards MB")
    for size in given.sizes:
        compare(size, given.folder, given.rounds)


if __name__ == "__main__":
    main()
