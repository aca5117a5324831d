"""What a terminal gets to see: one line of progress, and text without control characters."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def printable(text: str) -> str:
    """Replace control characters and line ends, which could act on the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def counted_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def label(text: object, width: int = 60) -> str:
    """Return a name that fits into a line: without control characters, and cut if it is long."""
    shown = printable(str(text)[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def printable_lines(text: str) -> str:
    """Do the same, but keep the lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def write_error(text: str) -> None:
    """Write to stderr; that nobody reads it any more must not end the work."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr:
            sys.stderr.write(text)
            sys.stderr.flush()


def write_output(text: str) -> None:
    """Write to stdout; if its reader went away, the exit code still tells how it went."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter would try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Progress:
    """One line on a terminal that says which model is being built; nothing elsewhere."""

    def __init__(self) -> None:
        """Look whether somebody is watching."""
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._last = ""

    def __call__(self, done: int, total: int, name: str) -> None:
        """Show the step; waiting is told elsewhere too, once."""
        text = f"[{done}/{total}] {name}" if total else name
        if self._is_shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        elif sys.stderr and name.startswith("waiting") and name != self._last:
            sys.stderr.write(f"{name}\n")
        self._last = name

    def clear(self) -> None:
        """Leave the line empty for what follows."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def relative_path(path: Path | str) -> str:
    """Return a path as short as it can be typed here, with nothing that a terminal obeys."""
    shown = Path(path)
    with contextlib.suppress(ValueError, FileNotFoundError):  # the folder may be gone
        shown = shown.relative_to(Path.cwd())
    return printable(str(shown))
