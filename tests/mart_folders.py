"""Marts as Spark leaves them: Parquet files in a folder per mart and run."""

from __future__ import annotations

from pathlib import Path

import duckdb

from collector.profiling.plan import load_plan
from collector.warehouse.sql import literal


def write_mart_folder(warehouse: Path, folder: Path) -> None:
    """Write the marts of a warehouse: a partition per run, and nothing for a mart without rows."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        for model in load_plan().batch("marts"):
            if connection.execute(f"select 1 from {model.name} limit 1").fetchone():
                (folder / model.name).mkdir(parents=True)
                connection.execute(
                    f"copy {model.name} to {literal(folder / model.name)}"
                    " (format parquet, partition_by (run_id))"
                )
