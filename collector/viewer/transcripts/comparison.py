"""Compares two rollouts: their conversations entry by entry, and their other fields."""

from __future__ import annotations

from dataclasses import dataclass

from collector.jsonl import Row
from collector.viewer.transcripts.conversation import read_conversation
from collector.viewer.transcripts.difference import Differ, Difference, align
from collector.viewer.transcripts.items import Entry
from collector.viewer.transcripts.rollout_fields import read_details, verifier_fields
from collector.viewer.transcripts.text_limits import PAGE_CHARS, PageBudget, Text

FIELD_CHARS = 500


@dataclass(frozen=True)
class Side:
    """An entry of one conversation, with a label of its position."""

    label: str
    entry: Entry


@dataclass(frozen=True)
class Pair:
    """Two entries that belong together, or an entry that only one conversation has."""

    first: Side | None
    second: Side | None
    difference: Difference


@dataclass(frozen=True)
class FieldPair:
    """A field of both rollouts, as text."""

    name: str
    first: str
    second: str

    @property
    def is_same(self) -> bool:
        """Tell whether both have the same value."""
        return self.first == self.second


@dataclass(frozen=True)
class Comparison:
    """The differences between two rollouts."""

    pairs: list[Pair]
    fields: list[FieldPair]

    @property
    def is_coarse(self) -> bool:
        """Tell whether some texts were too long to compare word by word."""
        return any(
            pair.first and pair.second and pair.difference.unit == "whole" for pair in self.pairs
        )

    @property
    def is_same(self) -> bool:
        """Tell whether both conversations are the same."""
        return all(pair.difference.is_same for pair in self.pairs)


def compare_rollouts(first: Row, second: Row) -> Comparison:
    """Compare the parts of two rollouts that a page shows."""
    left, right = _sides(first), _sides(second)
    differ = Differ()
    pairs = align([_key(side) for side in left], [_key(side) for side in right])
    return Comparison(
        [
            _pair(None if i is None else left[i], None if j is None else right[j], differ)
            for i, j in pairs
        ],
        _fields(first, second),
    )


def _sides(row: Row) -> list[Side]:
    entries = read_conversation(row, PageBudget(PAGE_CHARS // 2)).entries()
    return [Side(_label(turn, step, entry), entry) for turn, step, entry in entries]


def _label(turn: int, step: int | None, entry: Entry) -> str:
    names = {"tool-call": f"call of {entry.title}"}
    where = f"step {step}" if step else f"turn {turn}" if turn else "before the first turn"
    return f"{where}: {names.get(entry.kind, entry.title or 'left out')}"


def _key(side: Side) -> tuple[tuple[str, str], str]:
    entry = side.entry
    return (entry.kind, entry.title if entry.kind == "tool-call" else entry.role), entry.text


def _pair(first: Side | None, second: Side | None, differ: Differ) -> Pair:
    texts = [side.entry.text if side else None for side in (first, second)]
    if first and second and texts[0] == texts[1] and first.entry.title != second.entry.title:
        texts = [f"{side.entry.title}\n{side.entry.text}" for side in (first, second)]
    return Pair(first, second, differ.compare_optional(texts[0], texts[1]))


def _fields(first: Row, second: Row) -> list[FieldPair]:
    """Return the fields of both rollouts, starting with those that differ."""
    left, right = _values(first), _values(second)
    pairs = [
        FieldPair(name, left.get(name, "–"), right.get(name, "–")) for name in {**left, **right}
    ]
    return sorted(pairs, key=lambda pair: pair.is_same)


def _values(row: Row) -> dict[str, str]:
    """Return the fields of a rollout that the comparison shows."""
    budget = PageBudget()
    own = read_details({"response": row.get("response"), **verifier_fields(row)}, budget)
    texts = [budget.text(str(row.get("reward")), "/reward", name="reward"), *own.usage]
    return {text.name: _shorten(text) for text in [*texts, *own.verifier]}


def _shorten(text: Text) -> str:
    return text.shown_text[:FIELD_CHARS] + ("…" if text.size > FIELD_CHARS else "")
