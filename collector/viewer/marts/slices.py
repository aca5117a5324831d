"""The fields that the tasks of a run are sliced by."""

from __future__ import annotations

from dataclasses import dataclass

from collector.slice_order import sort_slices
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

SLICES = """
    select slice_by_index, slice_by, slice_value, count(distinct task_index) as task_count
    from task_slices
    where run_id = $run
    group by slice_by_index, slice_by, slice_value
    order by slice_by_index, slice_by
"""


@dataclass(frozen=True)
class SliceField:
    """A field that a run is sliced by; its index is its place among the fields of the run."""

    index: int
    name: str
    values: list[str]

    @property
    def column(self) -> str:
        """Return the name of its column in the table of tasks."""
        return f"slice_{self.index}"


def read_slice_fields(reader: Reader, run_id: str) -> list[SliceField]:
    """Return the fields that a run is sliced by, with their values in order."""
    fields: dict[tuple[int, str], list[Row]] = {}
    for row in reader.rows(Query(SLICES, {"run": run_id})):
        fields.setdefault((row["slice_by_index"], row["slice_by"]), []).append(row)
    return [
        SliceField(index, name, [row["slice_value"] for row in sort_slices(rows)])
        for (index, name), rows in fields.items()
    ]
