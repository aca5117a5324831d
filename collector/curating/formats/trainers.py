"""Write curated rows in the formats that verl, SkyRL and slime read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from collector.curating.formats.fields import FormatFields
from collector.curating.formats.parquet import answer_sql, write_parquet
from collector.curating.formats.staging import StagedRows, dump_line, stage_rows
from collector.curating.rows import CuratedRow
from collector.temporary_files import temporary_folder
from collector.warehouse.sql import literal


@dataclass(frozen=True)
class FormatSummary:
    """What was written."""

    row_count: int
    answer_field: str | None
    """The path of the field whose values are the answers; None if there are no answers."""


@dataclass(frozen=True)
class TrainerFormat:
    """How to write a file that a trainer reads."""

    suffix: str
    """How the trainer wants the name of the file to end."""
    write: Callable[[StagedRows, FormatFields, Path], None]
    is_text_only: bool


def write_format(
    name: str, rows: Iterable[CuratedRow], draft: Path, fields: FormatFields
) -> FormatSummary:
    """Write rows to an existing file in the format of a trainer, in their order.

    Raise UsageError if a row lacks what the format needs.
    """
    trainer = TRAINERS[name]
    with temporary_folder(draft.parent) as folder:
        staged = stage_rows(rows, folder / "rows.jsonl", fields, is_text_only=trainer.is_text_only)
        trainer.write(staged, fields, draft)
    return FormatSummary(staged.row_count, staged.answer_field)


def _write_verl(staged: StagedRows, fields: FormatFields, draft: Path) -> None:
    columns = (
        "data_source, prompt, ability,"
        f" {{style: 'rule', ground_truth: {answer_sql(staged)}}} as reward_model,"
        f" {_extra_info(fields)} as extra_info"
    )
    write_parquet(staged, columns, draft)


def _write_skyrl(staged: StagedRows, fields: FormatFields, draft: Path) -> None:
    # without an env_class, SkyRL uses the one of its own configuration
    env_class = "null" if fields.env_class is None else literal(fields.env_class)
    columns = (
        f"data_source, prompt, {env_class}::varchar as env_class,"
        f" {{method: 'rule', ground_truth: {answer_sql(staged)}}} as reward_spec,"
        f" {_extra_info(fields)} as extra_info"
    )
    write_parquet(staged, columns, draft)


def _extra_info(fields: FormatFields) -> str:
    """Return the SQL of what else is known of a row; the types are the same for every file."""
    return (
        f'{{split: {literal(fields.split)}, "index": "index", task_id: task_id,'
        ' task_index: task_index, tools: tools, "row": "row", spotter: spotter}'
    )


def _write_slime(staged: StagedRows, fields: FormatFields, draft: Path) -> None:
    names = ("index", "task_id", "task_index", "data_source", "row", "spotter")
    with staged.path.open("rb") as source, draft.open("wb", buffering=1 << 20) as target:
        for line in source:
            parts = orjson.loads(line)
            answer = staged.answer_field
            target.write(
                dump_line(
                    {
                        "input": parts["prompt"],
                        "label": None if answer is None else parts["answers"][answer],
                        "metadata": {
                            "split": fields.split,
                            **{name: parts[name] for name in names},
                        },
                        "tools": orjson.Fragment(parts["tools"]),
                    }
                )
            )


TRAINERS = {
    "verl": TrainerFormat(".parquet", _write_verl, is_text_only=True),
    "skyrl": TrainerFormat(".parquet", _write_skyrl, is_text_only=True),
    "slime": TrainerFormat(".jsonl", _write_slime, is_text_only=False),
}
