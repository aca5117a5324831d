"""What is exported: which marts and runs, and what is known of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.errors import UsageError
from collector.profiling.manifest import Column, Model, Plan
from collector.suggestions import unknown_name

WIDE_BYTES = 4_000
# as DuckDB has them: the usual group of rows, and the smallest
GROUP_ROWS = 122_880
VECTOR_ROWS = 2_048
FORMATS = ("parquet", "csv", "jsonl", "xlsx", "snapshot")
# every type that a mart may have, as JSON's table schemas call it
KINDS = {
    "varchar": "string",
    "bigint": "integer",
    "integer": "integer",
    "double": "number",
    "boolean": "boolean",
    "timestamp": "datetime",
}


@dataclass(frozen=True)
class Wanted:
    """What to export; no marts or no runs means all."""

    formats: tuple[str, ...] = ("parquet",)
    marts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    is_partitioned: bool = False
    has_snapshot: bool = True

    def check(self) -> None:
        """Refuse what contradicts itself."""
        for option, names in (("-f", self.formats), ("-s", self.marts)):
            for name in names:
                if "," in name:
                    each = " ".join(f"{option} {one}" for one in name.split(",") if one)
                    raise UsageError(f"{option} {name}: one name at a time, please: {each}")
        for name in self.formats:
            if name not in FORMATS:
                raise UsageError(f"--format {unknown_name(name, FORMATS)}")
        if self.is_partitioned and "parquet" not in self.formats:
            raise UsageError("--partition-by-run is for --format parquet")
        if not self.has_snapshot and "snapshot" in self.formats:
            raise UsageError("--format snapshot or --no-snapshot, not both")

    @property
    def names(self) -> tuple[str, ...]:
        """Return what is published, each format once."""
        files = [name for name in FORMATS if name in self.formats and name != "snapshot"]
        return (*files, *(["snapshot"] if self.has_snapshot else []))


@dataclass(frozen=True)
class Table:
    """A mart with the number of its rows that are exported, and about how long each is."""

    model: Model
    row_count: int
    row_bytes: int = 1

    @property
    def name(self) -> str:
        """Return what the mart is called."""
        return self.model.name

    def group_rows(self, size: int) -> int:
        """Return how many rows go together, if they may have so many bytes: whole vectors."""
        rows = size // self.row_bytes // VECTOR_ROWS * VECTOR_ROWS
        return min(GROUP_ROWS, max(VECTOR_ROWS, rows))

    @property
    def is_wide(self) -> bool:
        """Tell whether some thousand rows are a lot to hold."""
        return self.row_bytes > WIDE_BYTES

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return its columns in order."""
        return self.model.columns


def choose_marts(plan: Plan, names: Sequence[str]) -> list[Model]:
    """Return the marts that were named, or all."""
    marts = {model.name: model for model in plan.layer("marts")}
    for name in names:
        if name not in marts:
            raise UsageError(f"--select {unknown_name(name, sorted(marts))}")
    return [model for name, model in sorted(marts.items()) if not names or name in names]


def kind_of(column: Column) -> str:
    """Return the type of a column in words that every tool knows."""
    return KINDS[column.data_type]
