"""Say what somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from collector.terminal import label

SHOWN = 15


def guess(name: str, known: Sequence[str]) -> str:
    """Return a question if a name is nearly one of those that are known."""
    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {label(close[0])}?" if close else ""


def some(names: Sequence[str]) -> str:
    """List names, as many as a message bears."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(label(one) for one in names[:SHOWN]) + more


def unknown(name: str, known: Sequence[str]) -> str:
    """Say that a name is not known, what was probably meant, and which there are."""
    return f"{label(name)}: unknown{guess(name, known)}\n  there are: {some(known) or 'none'}"
