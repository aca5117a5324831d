"""Describe an export: its formats, marts and runs, and the types of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.errors import UsageError
from collector.profiling.manifest import CompiledModel, ModelColumn, Plan
from collector.suggestions import unknown_name

WIDE_BYTES = 4_000
# the default and the smallest row group of DuckDB
GROUP_ROWS = 122_880
VECTOR_ROWS = 2_048
FORMATS = ("parquet", "csv", "jsonl", "xlsx", "atif", "snapshot")
# what says which rollouts there are, where their files are, and which tasks they belong to
ATIF_MARTS = ("rollout_infos", "runs", "task_profiles")
# every type that a column of a mart can have, and its name in a Frictionless table schema
COLUMN_TYPES = {
    "varchar": "string",
    "bigint": "integer",
    "integer": "integer",
    "double": "number",
    "boolean": "boolean",
    "timestamp": "datetime",
}


@dataclass(frozen=True)
class ExportRequest:
    """The formats, marts and runs to export; no marts means all marts, and no runs all runs."""

    formats: tuple[str, ...] = ("parquet",)
    marts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    is_partitioned: bool = False
    has_snapshot: bool = True

    def check(self) -> None:
        """Raise UsageError if a format is unknown or two options contradict each other."""
        for option, names in (("-f", self.formats), ("-s", self.marts)):
            for name in names:
                if "," in name:
                    repeated = " ".join(f"{option} {one}" for one in name.split(",") if one)
                    raise UsageError(
                        f"{option} {name}: repeat the option for each name: {repeated}"
                    )
        for name in self.formats:
            if name not in FORMATS:
                raise UsageError(f"--format {unknown_name(name, FORMATS)}")
        if self.is_partitioned and "parquet" not in self.formats:
            raise UsageError("--partition-by-run works only with --format parquet")
        lacking = [name for name in ATIF_MARTS if name not in self.marts]
        if "atif" in self.formats and self.marts and lacking:
            raise UsageError(
                f"--format atif needs the marts {', '.join(ATIF_MARTS)}\n"
                "  what to do: export without --select, or select these too"
            )
        if not self.has_snapshot and "snapshot" in self.formats:
            raise UsageError(
                "--format snapshot and --no-snapshot contradict each other: use only one"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the formats to publish, each once; the snapshot comes last."""
        files = [name for name in FORMATS if name in self.formats and name != "snapshot"]
        return (*files, *(["snapshot"] if self.has_snapshot else []))


@dataclass(frozen=True)
class MartTable:
    """A mart with the number of rows to export, and their average size in bytes."""

    model: CompiledModel
    row_count: int
    row_bytes: int = 1

    @property
    def name(self) -> str:
        """Return the name of the mart."""
        return self.model.name

    def group_rows(self, size: int) -> int:
        """Return how many rows make a group of about `size` bytes: a multiple of VECTOR_ROWS."""
        rows = size // self.row_bytes // VECTOR_ROWS * VECTOR_ROWS
        return min(GROUP_ROWS, max(VECTOR_ROWS, rows))

    @property
    def is_wide(self) -> bool:
        """Tell whether the rows are so large that a thread should not hold thousands of them."""
        return self.row_bytes > WIDE_BYTES

    @property
    def columns(self) -> tuple[ModelColumn, ...]:
        """Return the columns of the mart, in order."""
        return self.model.columns


def choose_marts(plan: Plan, names: Sequence[str]) -> list[CompiledModel]:
    """Return the named marts, or all if there are no names; raise UsageError if one is unknown."""
    marts = {model.name: model for model in plan.layer("marts")}
    for name in names:
        if name not in marts:
            raise UsageError(f"--select {unknown_name(name, sorted(marts))}")
    return [model for name, model in sorted(marts.items()) if not names or name in names]


def column_type(column: ModelColumn) -> str:
    """Return the type of a column as a Frictionless table schema calls it."""
    return COLUMN_TYPES[column.data_type]
