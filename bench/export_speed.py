"""Measure the time and memory of an export of many rollouts, and compare it with pandas.

python bench/export_speed.py [--rollouts 1000000] [--sample-bytes 10000]

The warehouse contains synthetic marts, because only their sizes matter, above all the size of the
tasks' samples. The ratio compares with pandas, which writes the same tables as Parquet and holds
each one in memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from generate import generate

SMALL_MEMORY = ["--memory-limit", "500MB"]
FORMATS = {
    "parquet": [],
    "csv": ["-f", "csv"],
    "jsonl": ["-f", "jsonl"],
    "parquet in 500 MB": SMALL_MEMORY,
    "jsonl in 500 MB": ["-f", "jsonl", *SMALL_MEMORY],
}
PANDAS = """
import sys, pathlib, duckdb, pandas
folder = pathlib.Path(sys.argv[2])
connection = duckdb.connect(sys.argv[1], read_only=True)
tables = connection.execute("select table_name from duckdb_tables() where schema_name = 'main'")
for (name,) in tables.fetchall():
    connection.execute(f"from {name}").df().to_parquet(folder / f"{name}.parquet")
"""


def grow(warehouse: Path, rollouts: int, sample_bytes: int) -> None:
    """Copy the only run of a warehouse under other names until there are so many rollouts."""
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(
            "set force_compression = 'uncompressed'"
        )  # the texts repeat a pattern, which would compress too well
        count = connection.execute("select count(*) from rollout_infos").fetchone()
        assert count
        copies = max(0, rollouts // count[0] - 1)
        tables = connection.execute(
            "select table_name from duckdb_tables() where schema_name = 'main'"
        ).fetchall()
        for (name,) in tables:
            connection.execute(
                f"insert into {name} select rows.* replace (rows.run_id || '-' || copy as run_id)"
                f" from {name} as rows cross join range({copies}) as copies (copy)"
            )
        connection.execute(
            "update task_profiles"
            f" set sample = to_json(repeat(md5(run_id || task_index), {sample_bytes // 32}))"
        )


def measure_command(command: list[str]) -> tuple[float, int]:
    """Return the seconds that a command takes, and its peak memory in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[:4]} ended with {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss // 1024


def measure(folder: Path, rollouts: int, sample_bytes: int) -> None:
    """Create a warehouse, export it in each format, and print time and memory."""
    warehouse = folder / "warehouse.duckdb"
    generate(625, 16, folder / "run", row_bytes=2000)
    spotter = [sys.executable, "-m", "collector"]
    subprocess.run(
        [*spotter, "profile", str(folder / "run.jsonl"), "-w", str(warehouse)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # in a separate process: the memory of this one would count for the processes it starts
    growing = multiprocessing.Process(target=grow, args=(warehouse, rollouts, sample_bytes))
    growing.start()
    growing.join()
    print(f"{rollouts:,} rollouts, a warehouse of {warehouse.stat().st_size / 1e6:.0f} MB")
    seconds = {}
    for name, flags in FORMATS.items():
        place = str(folder / name.partition(" ")[0])
        command = [*spotter, "export", "-w", str(warehouse), "-o", place, *flags]
        seconds[name], memory = measure_command(command)
        print(f"{name:17} and a snapshot {seconds[name]:7.1f} s {memory:6} MB")
    (folder / "pandas").mkdir()
    pandas_seconds, memory = measure_command(
        [sys.executable, "-c", PANDAS, str(warehouse), str(folder / "pandas")]
    )
    print(f"pandas, Parquet alone            {pandas_seconds:7.1f} s {memory:6} MB")
    print(f"ratio {pandas_seconds / seconds['parquet']:.1f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=1_000_000)
    parser.add_argument("--sample-bytes", type=int, default=10_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spotter-bench-", dir=os.environ.get("TMPDIR")))
    try:
        measure(folder, options.rollouts, options.sample_bytes)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
