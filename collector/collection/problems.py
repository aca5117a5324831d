"""Unusable lines of a file, all of them, grouped by reason."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from collector.errors import LinesError
from collector.jsonl import foreign_format

SINGLY = 100
SHOWN_RANGES = 1000
SHOWN_REASONS = 20


class LineProblems:
    """The unusable lines of a file, grouped by reason."""

    def __init__(self, path: Path, *, next_step: str = "") -> None:
        """Start without problems; `next_step` follows "correct or remove the lines, "."""
        self.path = path
        self._next_step = next_step
        self._numbers: dict[str, list[int]] = {}
        self._hints: dict[str, None] = {}

    def __bool__(self) -> bool:
        """Tell whether there is a problem."""
        return bool(self._numbers)

    def add(self, number: int, reason: str, hint: str = "") -> None:
        """Note an unusable line, with the reason and what to do."""
        self._numbers.setdefault(reason, []).append(number)
        if hint:
            self._hints[hint] = None

    def raise_any(self) -> None:
        """Raise LinesError with every line, if there is a problem."""
        if not self:
            return
        numbers = sorted({number for lines in self._numbers.values() for number in lines})
        noun = "line" if len(numbers) == 1 else "lines"
        reasons = [f"{reason} ({line_list(lines)})" for reason, lines in self._numbers.items()]
        if len(reasons) > SHOWN_REASONS:
            rest = f"… and {len(reasons) - SHOWN_REASONS} more reasons; all lines: "
            reasons = [*reasons[:SHOWN_REASONS], rest + number_list(numbers)]
        hints = [f"what to do: {hint}" for hint in self._hints]
        if self._next_step:
            hints.append(f"what to do: correct or remove the {noun}, {self._next_step}")
        with contextlib.suppress(OSError):
            if numbers[0] == 1 and (looks_like := foreign_format(self.path)):
                hints = [f"the file looks like {looks_like}"]
        message = f"{len(numbers)} {noun} of {self.path} cannot be used"
        raise LinesError(
            "\n  ".join([message, *reasons, *hints]), count=len(numbers), numbers=numbers
        )


def line_list(numbers: Sequence[int]) -> str:
    """Return line numbers as text, like "line 3" or "lines 3, 4"."""
    return f"{'line' if len(numbers) == 1 else 'lines'} {number_list(numbers)}"


def number_list(numbers: Iterable[int]) -> str:
    """Return the numbers as text: one by one if they are few, else as ranges."""
    items = list(numbers)
    if len(items) <= SINGLY:
        return ", ".join(map(str, items))
    ranges = [f"{first}-{last}" if last > first else str(first) for first, last in _ranges(items)]
    more = f", … and {len(ranges) - SHOWN_RANGES} more" if len(ranges) > SHOWN_RANGES else ""
    return ", ".join(ranges[:SHOWN_RANGES]) + more


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


class UnusableRowError(ValueError):
    """An input row that cannot be run; the text says why, the hint what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        """Keep the hint beside the reason."""
        super().__init__(reason)
        self.hint = hint
