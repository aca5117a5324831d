"""Make text safe and short enough for one line of a terminal."""

from __future__ import annotations

import contextlib
from pathlib import Path


def printable(text: str) -> str:
    """Replace control characters and line ends, which could act on the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def printable_lines(text: str) -> str:
    """Replace control characters, but keep the line ends."""
    return "\n".join(printable(line) for line in text.split("\n"))


def counted_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration_text(milliseconds: float) -> str:
    """Return a duration in milliseconds, seconds or minutes, such as `4.2 s`."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:,.1f} min"


def label(text: object, width: int = 60) -> str:
    """Return a name that fits into a line: printable, and cut to `width` characters."""
    name = printable(str(text)[: width + 1])
    return name if len(name) <= width else name[: width - 1] + "…"


def relative_path(path: Path | str) -> str:
    """Return a printable path, relative to the current folder if the path lies in it."""
    short = Path(path)
    with contextlib.suppress(ValueError, FileNotFoundError):  # the current folder may be deleted
        short = short.relative_to(Path.cwd())
    return printable(str(short))
