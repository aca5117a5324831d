"""Make names that every tracker takes of what agents, metrics and runs are called."""

from __future__ import annotations

import hashlib
import re

from collector.terminal import printable

LONGEST = 80
LONGEST_TEXT = 500
PLAIN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST - 1}}}")
MARKED = re.compile(r".*-[0-9a-f]{12}")
OTHER = re.compile(r"[^A-Za-z0-9_.-]")


def safe_name(text: str) -> str:
    """Return a plain name as it is, and any other without what a tracker would refuse.

    Another name ends in a hash of the original, so that two never become one. A plain name that
    looks as if it had been changed is changed too.
    """
    if PLAIN.fullmatch(text) and not MARKED.fullmatch(text):
        return text
    kept = OTHER.sub("_", text[:LONGEST]).lstrip("._-") or "name"
    return f"{kept}-{hashlib.md5(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def safe_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return text for people: without control characters, and cut if it is long."""
    shown = printable(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
