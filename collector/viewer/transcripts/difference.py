"""Finds the differences of two texts or conversations, within limits: it takes quadratic time."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Literal

TOKENS = 2_000
LINES = 2_000
ALIGNED_ITEMS = 400
SECONDS = 0.7
WORD = re.compile(r"\s*\S+|\s+")
Edit = Literal["same", "removed", "added"]
ItemKey = tuple[Hashable, Hashable]
"""The kind of an item and its text."""


@dataclass(frozen=True)
class Span:
    """A part of a text that both texts have, or only one of them."""

    edit: Edit
    text: str


@dataclass(frozen=True)
class Difference:
    """Two texts as spans that mark the differences, and the unit of the comparison."""

    first: list[Span]
    second: list[Span]
    unit: Literal["nothing", "words", "lines", "whole"]

    @property
    def is_same(self) -> bool:
        """Tell whether both texts are the same."""
        return self.unit == "nothing"


class Differ:
    """Compares the texts of one page, and uses coarser units when that takes too long."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """Create a differ for a page; after `seconds`, it marks changed texts as a whole."""
        self._until = time.monotonic() + seconds

    def compare(self, first: str, second: str) -> Difference:
        """Compare two texts by words, by lines if they are long, or as a whole if very long."""
        if first == second:
            return Difference([Span("same", first)], [Span("same", second)], "nothing")
        words = WORD.findall(first), WORD.findall(second)
        if self._can_compare(*words, TOKENS):
            return _difference(_edits(*words), "words")
        lines = first.splitlines(keepends=True), second.splitlines(keepends=True)
        if self._can_compare(*lines, LINES):
            return _difference(self._line_edits(*lines), "lines")
        return Difference([Span("removed", first)], [Span("added", second)], "whole")

    def compare_optional(self, first: str | None, second: str | None) -> Difference:
        """Compare two texts, one of which may be missing."""
        if first is None or second is None:
            return Difference(
                [] if first is None else [Span("removed", first)],
                [] if second is None else [Span("added", second)],
                "whole",
            )
        return self.compare(first, second)

    def _can_compare(self, first: Sequence[str], second: Sequence[str], most: int) -> bool:
        same = _shared_ends(first, second)
        return max(len(first), len(second)) - sum(same) <= most and time.monotonic() < self._until

    def _line_edits(self, first: list[str], second: list[str]) -> Iterator[tuple[str, str]]:
        """Give the edits line by line, and word by word within changed lines."""
        for before, after in _edits(first, second):
            words = WORD.findall(before), WORD.findall(after)
            is_changed = before and after and before != after
            if is_changed and self._can_compare(*words, TOKENS // 4):
                yield from _edits(*words)
            else:
                yield before, after


def align(
    first: Sequence[ItemKey], second: Sequence[ItemKey]
) -> list[tuple[int | None, int | None]]:
    """Return pairs of indices of two lists of items, with None where only one list has an item.

    Items with the same kind and text are paired first. Between them, items of the same kind are
    paired in order.
    """
    start = _shared_prefix_length(zip(first, second, strict=False))
    ends = zip(reversed(first[start:]), reversed(second[start:]), strict=False)
    end = _shared_prefix_length(ends)
    left, right = first[start : len(first) - end], second[start : len(second) - end]
    return [
        *((i, i) for i in range(start)),
        *(
            (None if i is None else start + i, None if j is None else start + j)
            for i, j in _align_middle(left, right)
        ),
        *((len(first) - i, len(second) - i) for i in range(end, 0, -1)),
    ]


def _shared_prefix_length(pairs: Iterable[tuple[ItemKey, ItemKey]]) -> int:
    """Return the number of equal pairs before the first unequal one."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _align_middle(
    first: Sequence[ItemKey], second: Sequence[ItemKey]
) -> Iterator[tuple[int | None, int | None]]:
    if max(len(first), len(second)) > ALIGNED_ITEMS:  # many repeated items would take very long
        yield from zip_longest(range(len(first)), range(len(second)))
        return
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for edit, a, a_end, b, b_end in matcher.get_opcodes():
        if edit == "equal":
            yield from zip(range(a, a_end), range(b, b_end), strict=True)
        else:
            kinds = [key[0] for key in first[a:a_end]], [key[0] for key in second[b:b_end]]
            for i, j in _align_kinds(*kinds):
                yield (None if i is None else a + i, None if j is None else b + j)


def _align_kinds(
    first: list[Hashable], second: list[Hashable]
) -> Iterator[tuple[int | None, int | None]]:
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for edit, a, a_end, b, b_end in matcher.get_opcodes():
        if edit == "equal":
            yield from zip(range(a, a_end), range(b, b_end), strict=True)
        else:
            yield from ((i, None) for i in range(a, a_end))
            yield from ((None, j) for j in range(b, b_end))


def _edits(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give pairs of corresponding pieces of both texts."""
    head, tail = _shared_ends(first, second)
    a, b = first[head : len(first) - tail], second[head : len(second) - tail]
    yield "".join(first[:head]), "".join(first[:head])
    for _, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b).get_opcodes():
        yield "".join(a[a_from:a_to]), "".join(b[b_from:b_to])
    ending = "".join(first[len(first) - tail :])
    yield ending, ending


def _shared_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of the common prefix and the common suffix of two lists."""
    shorter = min(len(first), len(second))
    head = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if first[-1 - i] != second[-1 - i]), rest)
    return head, tail


def _difference(edits: Iterator[tuple[str, str]], unit: Literal["words", "lines"]) -> Difference:
    first: list[Span] = []
    second: list[Span] = []
    for before, after in edits:
        if before == after:
            _add(first, "same", before)
            _add(second, "same", after)
        else:
            _add(first, "removed", before)
            _add(second, "added", after)
    return Difference(first, second, unit)


def _add(spans: list[Span], edit: Edit, text: str) -> None:
    if not text:
        return
    if spans and spans[-1].edit == edit:
        spans[-1] = Span(edit, spans[-1].text + text)
    else:
        spans.append(Span(edit, text))
