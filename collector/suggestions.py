"""Suggest the name that a user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from collector.terminal import label

SHOWN = 20


def suggestion(name: str, known: Iterable[str], *, form: str = "{}", cutoff: float = 0.6) -> str:
    """Return "; did you mean …?" with the most similar known name, or an empty text.

    `form` shows how a user types that name, such as `+{}=…`.
    """
    by_lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return f"; did you mean {form.format(label(by_lower[close[0]]))}?" if close else ""


def first_names(names: Sequence[str], shown: int = SHOWN) -> str:
    """Return the first names as one text, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(label(one) for one in names[:shown]) + more


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Return a message that a name is unknown, with a suggestion and the known names."""
    listed = first_names(known) or "none"
    return f"{label(name)}: unknown{suggestion(name, known)}\n  there are: {listed}"
