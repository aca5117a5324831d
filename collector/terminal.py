"""What a terminal gets to see: one line of progress, and text without control characters."""

from __future__ import annotations

import sys


def printable(text: str) -> str:
    """Replace control characters and line ends, which could act on the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


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
