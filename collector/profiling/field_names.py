"""Check that the fields which --slice-by and --answer-field name exist in the files of a batch."""

from __future__ import annotations

import duckdb

from collector.errors import UsageError
from collector.profiling import python_reader
from collector.profiling.staged_runs import StagedRun
from collector.profiling.statistics import Statistics
from collector.terminal import label
from collector.warehouse.access import SCRATCH

STAGING = f"{SCRATCH}.staging"
SLICES = f"""
    select distinct entry.slice_by
    from (
        select unnest(slice_values) as entry from {STAGING}.stg_samples
        union all
        select unnest(slice_values) as entry from {STAGING}.stg_rollouts
    )
    where entry.slice_value is not null
"""
ANSWERS = f"select 1 from {STAGING}.stg_rollouts where has_answer_field limit 1"


def check_fields(
    connection: duckdb.DuckDBPyConnection, statistics: Statistics, example: StagedRun | None
) -> None:
    """Raise UsageError if a field is in no row; the message lists the fields of `example`.

    Without an example, the rows come from shards.
    """
    slice_fields = {name for (name,) in connection.execute(SLICES).fetchall()}
    for name in statistics.slice_by:
        if name not in slice_fields:
            raise UsageError(
                f"--slice-by {label(name)}: no input or rollout has a text, number or boolean in"
                f" this field{_known_fields(example, 'inputs', 'rollouts')}"
            )
    answer_field = statistics.answer_field
    if answer_field and not connection.execute(ANSWERS).fetchone():
        raise UsageError(
            f"--answer-field {label(answer_field)}: no rollout has this field"
            f"{_known_fields(example, 'rollouts')}"
        )


def _known_fields(example: StagedRun | None, *kinds: str) -> str:
    """Return one line per kind of file with the fields of its first row."""
    if example is None:
        return ""
    text = ""
    for kind in kinds:
        path = example.path(kind)
        names = python_reader.scalar_fields(path) if path else []
        if names:
            text += f"\n  fields of the {kind}: {', '.join(label(name, 30) for name in names)}"
    return text
