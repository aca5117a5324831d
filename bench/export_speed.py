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
from pathlib import Path

import duckdb
from generate import generate
from profile_speed import measure as measure_command

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
        output = str(folder / name.partition(" ")[0])
        command = [*spotter, "export", "-w", str(warehouse), "-o", output, *flags]
        taken = measure_command(command)
        seconds[name] = taken.seconds
        print(f"{name:17} and a snapshot {taken.seconds:7.1f} s {taken.megabytes:6.0f} MB")
    (folder / "pandas").mkdir()
    taken = measure_command([sys.executable, "-c", PANDAS, str(warehouse), str(folder / "pandas")])
    print(f"pandas, Parquet alone            {taken.seconds:7.1f} s {taken.megabytes:6.0f} MB")
    print(f"ratio {taken.seconds / seconds['parquet']:.1f}")


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
