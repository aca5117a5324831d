"""Turn the names of agents, metrics and runs into names that every tracker accepts."""

from __future__ import annotations

import hashlib
import re

from collector.terminal import printable

NAME_CHARACTERS = 80
TEXT_CHARACTERS = 500
PLAIN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{NAME_CHARACTERS - 1}}}")
HASHED = re.compile(r".*-[0-9a-f]{12}")
OTHER = re.compile(r"[^A-Za-z0-9_.-]")


def safe_name(text: str) -> str:
    """Return a plain name unchanged, and any other without the characters that trackers refuse.

    A changed name ends in a hash of the original, so that two names never become the same. A plain
    name that already looks like a changed one is changed too.
    """
    if PLAIN.fullmatch(text) and not HASHED.fullmatch(text):
        return text
    kept = OTHER.sub("_", text[:NAME_CHARACTERS]).lstrip("._-") or "name"
    return f"{kept}-{hashlib.md5(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def safe_text(text: str, longest: int = TEXT_CHARACTERS) -> str:
    """Return the text without control characters, cut to `longest` characters."""
    shown = printable(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
