"""Find the fields of a row that a trainer's format needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collector import answer_fields
from collector.errors import UsageError
from collector.jsonl import Row, dump
from collector.terminal import label

PROMPT_FIELD = "responses_create_params.input"
CANDIDATES = (
    *answer_fields.NAMES,
    *(f"{parent}.{name}" for parent in answer_fields.PARENTS for name in answer_fields.NAMES),
)
"""Where the answer of a row is looked for, in this order."""
LISTED_FIELDS = 40


@dataclass(frozen=True)
class FormatFields:
    """What the options say about the fields of a format; None means that there is no option."""

    prompt: str | None = None
    """The path of the prompt in a row, like `responses_create_params.input`."""
    answer: str | None = None
    """The path of the right answer in a row; an empty path writes no answers."""
    data_source: str | None = None
    ability: str | None = None
    env_class: str | None = None
    split: str = "train"


def find_field(row: Row, path: str) -> Any:
    """Return the value at a path with dots, or None if the row has none."""
    if path in row:
        return row[path]
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


class AnswerSearch:
    """Finds the field that holds the answer in every row."""

    def __init__(self, path: str | None) -> None:
        """Take the path that an option gives, or None to look for one."""
        self._is_given = path is not None
        self._candidates = [path] if path else [] if self._is_given else list(CANDIDATES)

    def find(self, row: Row, place: str) -> dict[str, str]:
        """Return the answers that a row has, by path; raise UsageError if no path fits all rows."""
        values = {path: find_field(row, path) for path in self._candidates}
        answers = {path: as_text(value) for path, value in values.items() if value is not None}
        if self._candidates and not answers:
            raise UsageError(self._complaint(row, place))
        self._candidates = list(answers)
        return answers

    @property
    def path(self) -> str | None:
        """Return the first path that every row so far has, or None if no answers are written."""
        return self._candidates[0] if self._candidates else None

    def _complaint(self, row: Row, place: str) -> str:
        missing = (
            f"has no {label(self._candidates[0])}, which --answer-field names"
            if self._is_given
            else "has no field that is known to hold the right answer of every row"
        )
        return (
            f"{place} {missing}\n"
            f"  its fields: {', '.join(map(label, field_paths(row)))}\n"
            "  what to do: name the field with --answer-field,"
            " or write no answers with --answer-field ''"
        )


def field_paths(row: Row) -> list[str]:
    """Return the paths of a row's fields, without those of the request to the model."""
    paths: list[str] = []
    for name, value in row.items():
        if isinstance(value, dict) and name in answer_fields.PARENTS:
            paths += [f"{name}.{inner}" for inner in value]
        else:
            paths.append(name)
    cut = len(paths) > LISTED_FIELDS
    return [*paths[:LISTED_FIELDS], *(["…"] if cut else [])]


def as_text(value: object) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else dump(value).decode()
