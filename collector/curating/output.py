"""Write the chosen rows: as they are, in the format of a trainer, or as transcripts of rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from collector.curating.formats.fields import FormatFields
from collector.curating.formats.rollout_choice import RolloutSource, find_source
from collector.curating.formats.trainers import TRAINERS, write_format
from collector.curating.formats.transcripts import TranscriptSummary, write_dpo, write_sft
from collector.curating.input_rows import add_annotation
from collector.curating.rows import CuratedRow
from collector.errors import InvariantError, UsageError
from collector.suggestions import unknown_name

TRANSCRIPTS = ("sft", "dpo")
FORMATS = (*TRAINERS, *TRANSCRIPTS)


@dataclass(frozen=True)
class OutputForm:
    """What the output is for, and the fields and limits of that format."""

    name: str | None = None
    """A trainer or a kind of transcripts; None for the original rows."""
    fields: FormatFields = field(default_factory=FormatFields)
    least_reward: float | None = None
    least_difference: float | None = None
    source: RolloutSource | None = None
    """The rollouts to write transcripts of."""

    def check(self) -> None:
        """Raise UsageError for an unknown format, or for options of another one."""
        if self.name is not None and self.name not in FORMATS:
            raise UsageError(f"--for {unknown_name(self.name, FORMATS)}")
        if self.fields != FormatFields() and self.name not in TRAINERS:
            names = ", ".join(TRAINERS)
            raise UsageError(f"options for the fields of a format need --for with one of {names}")
        if self.least_reward is not None and self.name != "sft":
            raise UsageError("--least-reward needs --for sft")
        if self.least_difference is not None and self.name != "dpo":
            raise UsageError("--least-difference needs --for dpo")

    def with_rollouts(
        self,
        connection: duckdb.DuckDBPyConnection,
        warehouse: Path,
        run_id: str,
        agent: str | None,
    ) -> OutputForm:
        """Return the form with its rollouts, if it needs any, from the attached warehouse."""
        if self.name not in TRANSCRIPTS:
            return self
        return replace(self, source=find_source(connection, warehouse, run_id, agent))


def write_rows(
    form: OutputForm, file: BinaryIO, draft: Path, rows: Iterator[CuratedRow]
) -> dict[str, Any]:
    """Write the rows to an open draft, and return the figures for the manifest."""
    if form.name is None:
        return {"format": "rows", "rows": _write_plain(file, rows)}
    if form.name in TRAINERS:
        written = write_format(form.name, rows, draft, form.fields)
        return {
            "format": form.name,
            "rows": written.row_count,
            "answer_field": written.answer_field,
        }
    summary = _write_transcripts(form, draft, rows)
    if not summary.row_count:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.omitted.items())
        raise InvariantError(f"--for {form.name}: no task has a transcript ({reasons})")
    return {"format": form.name, "rows": summary.row_count, "omitted": dict(summary.omitted)}


def _write_plain(file: BinaryIO, rows: Iterator[CuratedRow]) -> int:
    count = 0
    for curated in rows:
        note = curated.annotation
        file.write(curated.row if note is None else add_annotation(curated.row, note))
        file.write(b"\n")
        count += 1
    file.flush()
    return count


def _write_transcripts(
    form: OutputForm, draft: Path, rows: Iterator[CuratedRow]
) -> TranscriptSummary:
    assert form.source
    if form.name == "sft":
        return write_sft(rows, draft, form.source, least_reward=form.least_reward)
    return write_dpo(rows, draft, form.source, least_difference=form.least_difference)
