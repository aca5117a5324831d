"""Measure `spotter profile --engine spark` on this machine, and how its cost grows with the run.

    python bench/spark_speed.py [--sizes 16000 160000] [--folder bench/data]

It needs the extra `spark` and Java. The largest size needs 5 GB of disk, 8 GB of memory
and some minutes. The
computing time counts all processes, also Spark's JVM. The time per GB is that of the step from each
size to the next: the first GB also pays for the start and for some 200 steps of dbt.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from shared import SPOTTER, generated_run, size_parser

POLL_S = 0.5
PARTITIONS = "spark.sql.shuffle.partitions=8"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measure:
    """The size of a run, and what its profile took."""

    gigabytes: float
    seconds: float
    cpu_seconds: float


def main() -> None:
    """Measure every size, and print a line for each."""
    options = size_parser(__doc__, [16_000, 160_000]).parse_args()
    before: Measure | None = None
    print(f"{'rollouts':>9} {'GB':>6} {'seconds':>8} {'CPU s':>7} {'CPU s per GB more':>18}")
    for size in sorted(options.sizes):
        found = measure(size, options.folder)
        more = ""
        if before:
            step = found.gigabytes - before.gigabytes
            more = f"{(found.cpu_seconds - before.cpu_seconds) / step:.0f}"
        print(
            f"{size:>9} {found.gigabytes:>6.2f} {found.seconds:>8.0f} {found.cpu_seconds:>7.0f}"
            f" {more:>18}",
            flush=True,
        )
        before = found


def measure(size: int, folder: Path) -> Measure:
    """Profile a generated run on Spark, into marts and a warehouse of its own."""
    rollouts = generated_run(folder, size)
    inputs = rollouts.with_name(f"{rollouts.stem}_materialized_inputs.jsonl")
    command = [
        *(SPOTTER, "profile", str(rollouts), "--engine", "spark"),
        *("--no-files", "--warehouse", str(folder / f"spark{size}.duckdb")),
    ]
    settings = {
        "SPOTTER_SPARK_WAREHOUSE": str(folder / f"spark{size}"),
        "PYSPARK_SUBMIT_ARGS": f"--driver-memory 8g --conf {PARTITIONS} pyspark-shell",
    }
    started = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    ticks: dict[int, int] = {}
    while process.poll() is None:
        ticks |= descendant_ticks(process.pid)
        time.sleep(POLL_S)
    if process.returncode:
        raise SystemExit(process.returncode)
    return Measure(
        sum(path.stat().st_size for path in (rollouts, inputs)) / 1e9,
        time.perf_counter() - started,
        sum(ticks.values()) / TICKS,
    )


def descendant_ticks(root: int) -> dict[int, int]:
    """Return the computing time of a process and of all that descend from it, by process."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        ticks[pid] = int(fields[11]) + int(fields[12])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: ticks[pid] for pid in found if pid in ticks}


if __name__ == "__main__":
    main()
