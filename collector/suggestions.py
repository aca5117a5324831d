"""Suggest the name that a user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from collector.terminal import label

SHOWN = 15


def suggestion(name: str, known: Iterable[str], *, form: str = "{}", cutoff: float = 0.6) -> str:
    """Return a question that names the most similar known name, or an empty text.

    The form says how that name is typed, such as `+{}=…`.
    """
    by_lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return f"; did you mean {form.format(label(by_lower[close[0]]))}?" if close else ""


def first_names(names: Sequence[str]) -> str:
    """List the first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(label(one) for one in names[:SHOWN]) + more


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Say that a name is unknown, suggest one, and list those that exist."""
    listed = first_names(known) or "none"
    return f"{label(name)}: unknown{suggestion(name, known)}\n  there are: {listed}"
