"""Write the parts of curated rows that a format needs to a temporary file, one row at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from collector.chat_messages import TranslationError
from collector.curating.formats.fields import AnswerSearch, FormatFields, find_field
from collector.curating.formats.prompts import ChatPrompt, read_prompt
from collector.curating.rows import CuratedRow
from collector.errors import FileError, UsageError
from collector.jsonl import Row, dump, parse_object
from collector.terminal import label


@dataclass
class StagedRows:
    """A file with one JSON object per row: what every format is made from."""

    path: Path
    row_count: int = 0
    size: int = 0
    longest: int = 0
    """The bytes of the longest line."""
    message_fields: set[str] = field(default_factory=set)
    """The fields that messages of the prompts have."""
    answer_field: str | None = None


def stage_rows(
    rows: Iterable[CuratedRow], path: Path, fields: FormatFields, *, is_text_only: bool
) -> StagedRows:
    """Write the parts of each row to a new file; raise UsageError if a row lacks one of them.

    `is_text_only` refuses messages with images, audio or files.
    """
    staged = StagedRows(path)
    search = AnswerSearch(fields.answer)
    with path.open("wb", buffering=1 << 20) as file:
        for curated in rows:
            place = f"the row of task {curated.task_index}"
            row = _parse(curated, place)
            prompt = _prompt(row, fields, place, is_text_only=is_text_only)
            answers = search.find(row, place)
            parts = _parts(curated, row, prompt, fields)
            line = dump_line({**parts, "index": staged.row_count, "answers": answers})
            file.write(line)
            staged.row_count += 1
            staged.size += len(line)
            staged.longest = max(staged.longest, len(line))
            staged.message_fields.update(*prompt.messages)
    staged.answer_field = search.path
    return staged


def dump_line(value: Row) -> bytes:
    """Return data as a line of JSON; half of a surrogate pair becomes a replacement character."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return dump(_without_surrogates(value)) + b"\n"


def _parse(curated: CuratedRow, place: str) -> Row:
    try:
        return parse_object(curated.row)
    except ValueError as error:
        raise FileError(f"{place} cannot be read: {error}") from error


def _prompt(row: Row, fields: FormatFields, place: str, *, is_text_only: bool) -> ChatPrompt:
    try:
        prompt = read_prompt(row, fields.prompt)
    except TranslationError as error:
        raise UsageError(
            f"the prompt of {place} cannot be written as chat messages:"
            f" {error}\n  what to do: name the field of the prompt with --prompt-field,"
            " or leave the task out"
        ) from error
    if is_text_only and any(isinstance(one["content"], list) for one in prompt.messages):
        raise UsageError(
            f"the prompt of {place} is not only text, and this format holds"
            " texts only\n  what to do: leave the task out, or use --for slime"
        )
    return prompt


def _parts(curated: CuratedRow, row: Row, prompt: ChatPrompt, fields: FormatFields) -> Row:
    note = curated.annotation
    return {
        "task_index": curated.task_index,
        "task_id": curated.task_id,
        "prompt": prompt.messages,
        "tools": dump(prompt.tools).decode(),
        "data_source": fields.data_source or _text(row, "agent_ref.name") or "nemo_gym",
        "ability": fields.ability or _text(row, "category") or "general",
        "row": curated.row.decode(),
        "spotter": None if note is None else dump(note).decode(),
    }


def _text(row: Row, path: str) -> str | None:
    value = find_field(row, path)
    return label(value, 200) if isinstance(value, str) and value else None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(name): _without_surrogates(one) for name, one in value.items()}
    return value
