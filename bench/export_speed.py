"""Measure the time and memory of an export of many rollouts, and compare it with pandas.

    python bench/export_speed.py [--sizes 1000000]

The warehouse contains synthetic marts, because only their sizes matter, above all the size of the
tasks' samples. The ratio compares with pandas, which writes the same tables as Parquet and holds
each one in memory.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
from shared import SPOTTER, generated_run, measure, size_parser

GENERATED = 10_000
SAMPLE_BYTES = 10_000
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


def grow(warehouse: Path, rollouts: int) -> None:
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
            f" set sample = to_json(repeat(md5(run_id || task_index), {SAMPLE_BYTES // 32}))"
        )


def export(folder: Path, rollouts: int) -> None:
    """Create a warehouse, export it in each format, and print time and memory."""
    warehouse = folder / "warehouse.duckdb"
    run = generated_run(folder, min(rollouts, GENERATED))
    measure([SPOTTER, "profile", run, "-w", warehouse])
    grow(warehouse, rollouts)
    print(f"{rollouts:,} rollouts, a warehouse of {warehouse.stat().st_size / 1e6:.0f} MB")
    seconds = {}
    for name, flags in FORMATS.items():
        output = folder / name.partition(" ")[0]
        taken = measure([SPOTTER, "export", "-w", warehouse, "-o", output, *flags])
        seconds[name] = taken.seconds
        print(f"{name:17} and a snapshot {taken.seconds:7.1f} s {taken.megabytes:6.0f} MB")
    (folder / "pandas").mkdir()
    taken = measure([sys.executable, "-c", PANDAS, warehouse, folder / "pandas"])
    print(f"pandas, Parquet alone            {taken.seconds:7.1f} s {taken.megabytes:6.0f} MB")
    print(f"ratio {taken.seconds / seconds['parquet']:.1f}")


def main() -> None:
    """Measure and print."""
    given = size_parser(__doc__, [1_000_000]).parse_args()
    for size in given.sizes:
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            export(Path(name), size)


if __name__ == "__main__":
    main()
